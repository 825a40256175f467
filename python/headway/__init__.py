"""Tokens that circulate on a ring, stay a set distance apart, and recover from any state.

>>> import headway
>>> ring = headway.Ring(24, 4, 5, start="piled")
>>> ring.forecast().legitimate_at
16
>>> headway.worst_case(24, 4, 5).last_rest
19

The words are those of the command line, and so are the numbers. docs/python.md of the
repository is the guide.
"""

from __future__ import annotations

from . import cluster, petri
from ._check import Check, Protocol, Witness, check, check_many
from ._headway import EXPERIMENTS, MODELS, HeadwayError, __version__
from ._plan import Plan, plan
from ._ring import Forecast, Outcome, Ring, State, Wait, WorstCase, forecast_many, worst_case
from ._sweep import Finding, Results, experiment, sweep
from ._table import Svg, Table
from ._walk import Walk, walk

__all__ = [
    "EXPERIMENTS",
    "MODELS",
    "Check",
    "Finding",
    "Forecast",
    "HeadwayError",
    "Outcome",
    "Plan",
    "Protocol",
    "Results",
    "Ring",
    "State",
    "Svg",
    "Table",
    "Wait",
    "Walk",
    "Witness",
    "WorstCase",
    "__version__",
    "check",
    "check_many",
    "cluster",
    "experiment",
    "forecast_many",
    "petri",
    "plan",
    "sweep",
    "walk",
    "worst_case",
]
