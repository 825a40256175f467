"""Grids of rings, measured."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

from . import _headway, cluster
from ._arguments import PathLike, Progress, callback, optional, read, texts, threads as how_many, whole, word
from ._ring import Ring
from ._table import Svg, Table

#: Parts for each thread of a cluster, so that all have work to the end.
PARTS_EACH = 4


class Finding(NamedTuple):
    """A statement of the paper, and what the data say about it."""

    statement: str
    criterion: str
    evidence: str
    #: None when the data are too few to tell.
    holds: Optional[bool]


class Results(Table):
    """A sweep's results: a row per cell, as in `cells.csv`."""

    def __init__(self, sweep: _headway.Sweep, found: Tuple[_headway.Frame, Optional[_headway.Frame], str]) -> None:
        cells, samples, results = found
        super().__init__(cells)
        self._sweep = sweep
        self._results = results
        #: A row per sample, if they were asked for: `rows="samples"`.
        self.samples: Optional[Table] = None if samples is None else Table(samples)

    @property
    def title(self) -> str:
        """What was measured."""
        return self._sweep.title

    @property
    def toml(self) -> str:
        """The sweep file that says the same to `headway sweep`."""
        return self._sweep.text

    @property
    def tallies(self) -> List[Dict[str, Any]]:
        """The exact sums of every cell."""
        tallies: List[Dict[str, Any]] = json.loads(self._results)
        return tallies

    @property
    def findings(self) -> List[Finding]:
        """What the data say about the paper's statements; of other sweeps, nothing."""
        return [Finding(**finding) for finding in json.loads(self._sweep.findings(self._results))]

    @property
    def figures(self) -> Dict[str, Svg]:
        """The figures of the sweep file, by name."""
        return {name: Svg(text) for name, text in self._sweep.figures(self._results)}

    def ring(self, cell: int, sample: int) -> Ring:
        """The ring of a sample, in its initial state."""
        found = self._sweep.state(whole("cell", cell, 2**32 - 1), whole("sample", sample))
        if found is None:
            raise _headway.HeadwayError(
                f"there is no ring of cell {cell}, sample {sample}: there are {self._sweep.cells} cells of "
                f"{self._sweep.samples} samples, counted from 0, and not every model has rings"
            )
        return Ring._new(found)


def sweep(
    file: Optional[PathLike] = None,
    *,
    processes: Any = None,
    tokens: Any = None,
    separation: Any = None,
    delays: Any = None,
    start: Any = None,
    program: Any = None,
    fault: Any = None,
    measure: Any = None,
    percentiles: Any = None,
    x: Optional[str] = None,
    series: Any = None,
    name: str = "sweep",
    samples: Optional[int] = None,
    seed: Optional[int] = None,
    rows: str = "cells",
    threads: Optional[int] = None,
    progress: Progress = None,
    client: Any = None,
    ray: bool = False,
    parts: Optional[int] = None,
) -> Results:
    """Measures every ring of a grid: `sweep(processes=24, tokens=[2, 3, 4], delays=range(1, 25))`.

    file: a sweep file, instead of values for axes. Values are numbers, ranges, formulas
    ("n/m") and words; several make an axis.
    rows: "samples" for a row per sample as well.
    client: a Dask client whose workers do it; ray: let Ray do it; parts: into how many parts
    it is cut for them. The numbers are the same, bit for bit.
    """
    axes = {
        "processes": processes,
        "tokens": tokens,
        "separation": separation,
        "delays": delays,
        "start": start,
        "program": program,
        "fault": fault,
    }
    size = _size(samples, seed, rows)
    if file is not None:
        others = {**axes, "measure": measure, "percentiles": percentiles, "x": x, "series": series}
        given = [key for key, value in others.items() if value is not None]
        if given:
            raise _headway.HeadwayError(
                f"{given[0]} contradicts {os.fspath(file)}, which describes the whole sweep\n"
                f"help: drop {given[0]}, or change the file"
            )
        of = _headway.Sweep.parse(os.fspath(file), read(file), *size)
    else:
        # Percentiles may have decimals.
        wanted = [percentiles] if isinstance(percentiles, (int, float, str)) else percentiles or []
        of = _headway.Sweep.grid(
            word("name", name),
            [(axis, texts(axis, values)) for axis, values in axes.items()],
            texts("measure", measure),
            [str(percentile) for percentile in wanted],
            x,
            texts("series", series),
            *size,
        )
    return _run(of, how_many(threads), progress, client, ray, parts)


def experiment(
    name: Union[str, "os.PathLike[str]"],
    *,
    samples: Optional[int] = None,
    seed: Optional[int] = None,
    rows: str = "cells",
    threads: Optional[int] = None,
    progress: Progress = None,
    client: Any = None,
    ray: bool = False,
    parts: Optional[int] = None,
) -> Results:
    """An experiment that comes with Headway (`headway.EXPERIMENTS`), or that of a sweep file.

    `experiment("paper")` is the evaluation of the paper, with `findings` and `figures`.
    """
    size = _size(samples, seed, rows)
    text = _headway.experiment(name) if isinstance(name, str) else None
    path = os.fspath(name)
    if text is None and not any(c in path for c in "./\\"):
        raise _headway.HeadwayError(
            f"unknown experiment '{path}'\nhelp: expected {', '.join(_headway.EXPERIMENTS)}, or the path of a "
            "sweep file (with a dot or a slash in it)"
        )
    of = _headway.Sweep.parse(path, read(path) if text is None else text, *size)
    return _run(of, how_many(threads), progress, client, ray, parts)


def _size(samples: Optional[int], seed: Optional[int], rows: str) -> Tuple[Optional[int], Optional[int], bool]:
    checked = optional("samples", samples, least=1), optional("seed", seed)
    if rows not in ("cells", "samples"):
        raise _headway.HeadwayError(f"rows={rows!r}: expected cells or samples")
    return (*checked, rows == "samples")


def _run(
    of: _headway.Sweep, threads: Optional[int], progress: Progress, client: Any, ray: bool, parts: Optional[int]
) -> Results:
    if client is None and not ray:
        if parts is not None:
            raise _headway.HeadwayError("parts only has a meaning with client or ray\nhelp: drop parts")
        return Results(of, of.run(threads, callback(progress)))
    count = PARTS_EACH * cluster.workers(client, ray) if parts is None else whole("parts", parts, 2**20, 1)
    description = (of.text, of.samples, of.seed, of.rows)
    tasks = [(description, index, count) for index in range(count)]
    return Results(of, of.join(cluster.map_tasks(run_part, tasks, client=client, ray=ray)))


def run_part(task: Tuple[Tuple[str, int, int, bool], int, int]) -> str:
    """One part of a sweep, for `join`; this is what the workers of a cluster do."""
    (text, samples, seed, rows), index, parts = task
    return _headway.Sweep.parse("sweep", text, samples, seed, rows).part(index, parts)
