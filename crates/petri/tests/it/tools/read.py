"""Reads PNML files with pm4py and SNAKES and says what they see.

Standard input: a JSON list of {"file": path, "invariants": [[place id, ...], ...]}.
Standard output: a JSON list with, for each file and each of the two tools, places
with tokens, transitions, arcs with weights, and what holds of the invariants:
whether each is one by that tool's own incidence matrix, and whether they span all.
"""

import contextlib
import io
import json
import sys
import warnings

warnings.filterwarnings("ignore")
with contextlib.redirect_stdout(io.StringIO()):
    import numpy
    import pm4py
    import snakes.nets
    import snakes.pnml
    from pm4py.algo.analysis.woflan.place_invariants.place_invariants import (
        compute_place_invariants,
    )


def by_pm4py(path):
    with contextlib.redirect_stdout(io.StringIO()):
        net, initial, _ = pm4py.read_pnml(path)
    return {
        "places": {place.name: initial.get(place, 0) for place in net.places},
        "transitions": sorted(transition.name for transition in net.transitions),
        "arcs": sorted([arc.source.name, arc.target.name, arc.weight] for arc in net.arcs),
        "own_invariants": len(compute_place_invariants(net)),
    }


def by_snakes(path):
    with open(path, "rb") as file:
        net = snakes.pnml.loads(file.read())

    def weight(label):
        return len(list(label)) if isinstance(label, snakes.nets.MultiArc) else 1

    arcs = []
    for transition in net.transition():
        arcs += [[place.name, transition.name, weight(label)] for place, label in transition.input()]
        arcs += [[transition.name, place.name, weight(label)] for place, label in transition.output()]
    return {
        "places": {place.name: len(place.tokens) for place in net.place()},
        "transitions": sorted(transition.name for transition in net.transition()),
        "arcs": sorted(arcs),
    }


def judge(seen, invariants):
    places = {name: row for row, name in enumerate(sorted(seen["places"]))}
    transitions = {name: column for column, name in enumerate(seen["transitions"])}
    incidence = numpy.zeros((len(places), len(transitions)), dtype=numpy.int64)
    for source, target, weight in seen["arcs"]:
        if source in places:
            incidence[places[source], transitions[target]] -= weight
        else:
            incidence[places[target], transitions[source]] += weight
    vectors = numpy.zeros((len(invariants), len(places)), dtype=numpy.int64)
    for row, names in enumerate(invariants):
        for name in names:
            vectors[row, places[name]] += 1
    free = len(places) - numpy.linalg.matrix_rank(incidence)
    seen["invariants_hold"] = bool((vectors @ incidence == 0).all())
    seen["invariants_span"] = bool(numpy.linalg.matrix_rank(vectors) == free == len(invariants))
    return seen


answers = []
for task in json.load(sys.stdin):
    answers.append(
        {
            name: judge(read(task["file"]), task["invariants"])
            for name, read in (("pm4py", by_pm4py), ("SNAKES", by_snakes))
        }
    )
json.dump(answers, sys.stdout)
