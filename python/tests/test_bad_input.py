"""Whatever is asked: an exception that says what to do; no crash, no hang."""

import inspect

import networkx as nx
import pytest
from hypothesis import given, settings, strategies as st

import headway
from conftest import pick
from headway import HeadwayError, petri

WRONG_TYPES = [
    lambda: headway.Ring("24"),
    lambda: headway.Ring(24.0),
    lambda: headway.Ring(True),
    lambda: headway.Ring(24, [4]),
    lambda: headway.Ring(24, seed="x"),
    lambda: headway.Ring(24, start=7),
    lambda: headway.Ring(24, program=None, delays=3.5),
    lambda: headway.Ring(24).run("ten"),
    lambda: headway.Ring(24).run(faults=[3]),
    lambda: headway.Ring(24).run(progress="yes"),
    lambda: headway.Ring.from_json(5),
    lambda: headway.forecast_many(seeds=[1, 2]),
    lambda: headway.forecast_many(seeds=range(0, 9, 3)),
    lambda: headway.check(5),
    lambda: headway.check("k-state", processes="four"),
    lambda: headway.check("k-state", scheduler=3),
    lambda: headway.check(headway.Protocol("x"), n="5"),
    lambda: headway.walk([(1, 2)]),
    lambda: headway.walk(nx.cycle_graph(5), tokens="2"),
    lambda: headway.plan(7),
    lambda: headway.plan(["ab", "bc"]),
    lambda: headway.plan([[1, 2], 3]),
    lambda: headway.plan([[[1], 2]]),
    lambda: headway.plan([[1, 2]], input=3),
    lambda: headway.plan([[1, 2]], together=[1, 2]),
    lambda: headway.plan([[1, 2]], effort="much"),
    lambda: petri.Net(7),
    lambda: petri.Net.of_ring("ring"),
    lambda: petri.Net.from_pm4py("net", {}),
    lambda: headway.sweep(tokens=[2.5]),
    lambda: headway.sweep(tokens=2, samples="many"),
    lambda: headway.sweep(tokens=2, client="dask"),
]


@pytest.mark.parametrize("ask", WRONG_TYPES, ids=range(len(WRONG_TYPES)))
def test_a_wrong_type_is_named(ask):
    with pytest.raises((TypeError, HeadwayError)) as raised:
        ask()
    assert "expected" in str(raised.value) or "whole number" in str(raised.value), str(raised.value)


IMPOSSIBLE = [
    (lambda: headway.Ring(0), "processes=0: a ring needs at least one process", "give processes=1 or more"),
    (lambda: headway.Ring(-1), "processes=-1: expected a whole number from 0", None),
    (lambda: headway.Ring(2**70), "expected a whole number from 0", None),
    (lambda: headway.Ring(24, 0), "there are no tokens, so nothing would ever move", "give tokens=1 or more"),
    (lambda: headway.Ring(24, 4, 0), "separation=0: expected 1 to", "at least 1 hop apart"),
    (lambda: headway.Ring(24, 9, 5, start="worst"), "there is no worst start", "at most tokens=4"),
    (lambda: headway.Ring(24, start="slow"), "start='slow': expected random, piled", None),
    (lambda: headway.Ring(24, delays=[]), "no process delays", None),
    (lambda: headway.Ring(24, delays=[24]), "there is no process 24", None),
    (lambda: headway.Ring(24, delays="some"), "delays: expected all, a number K", None),
    (lambda: headway.Ring(24, program="measure", separation=3), "measures the separation by itself", 'program="fixed"'),
    (lambda: headway.Ring(24, program="measure").forecast(), "measure", "`Ring.run()`"),
    (lambda: headway.Ring(24).run(5, faults="pile@9"), "would come after the last round", "give more rounds"),
    (lambda: headway.Ring(24).run(faults="boom@1"), 'fault="boom@1"', None),
    (lambda: headway.Ring(24).run(engine="fast"), "engine: expected auto, dense or sparse", None),
    (lambda: headway.Ring(10**6, 10**5, 5).run(10**18), "days", "give at most rounds="),
    (lambda: headway.Ring.from_json(""), "empty", "expected a ring and its state in JSON"),
    (lambda: headway.Ring.from_json('{"separation": 2, "processes": [{"program": "dela"}]}'), "processes[0].program", None),
    (lambda: headway.Ring.from_file("/nowhere/x.json"), "cannot read /nowhere/x.json: no such file", "check the path"),
    (lambda: headway.worst_case(4, 3, 2), "none of them settles", "at most tokens=2"),
    (lambda: headway.check("delay"), "there is no model 'delay'; expected delay-relay", None),
    (lambda: headway.check("k-state", tokens=3), "tokens has no meaning for the model k-state", None),
    (lambda: headway.check("k-state", processes=-3), "processes=-3", None),
    (lambda: headway.check("k-state", scheduler="fair"), "scheduler", None),
    (lambda: headway.check("delay-relay", processes=60, tokens=20, unreduced=True), "too large", "make"),
    (lambda: headway.check("delay-relay", memory=2**50), "MiB are free", "give at most memory="),
    (lambda: headway.check("no/such.protocol"), "cannot read no/such.protocol", "check the path"),
    (lambda: headway.check(headway.Protocol("nonsense")), "protocol:1:", None),
    (lambda: headway.check_many([{"processes": 3}]), "which model", None),
    (lambda: headway.plan([]), "0 members: a ring has at least 2", None),
    (lambda: headway.plan([["a", "a"]]), "group 1: a is there twice", None),
    (lambda: headway.plan(nx.DiGraph([(1, 2)])), "conflicts have no direction", "graph.to_undirected()"),
    (lambda: headway.plan(nx.Graph([(1, 1), (1, 2)])), "1 is there twice", None),
    (lambda: headway.plan("/nowhere/groups.txt"), "cannot read /nowhere/groups.txt: no such file", "check the path"),
    (lambda: headway.plan([["a", "b"]], input="kafka"), "input: has a meaning for a file only", "drop input"),
    (lambda: headway.plan([["a", "b"]], together={"r": ["a", "b"]}), "together: a and b are both of r", "plan without together"),
    (lambda: headway.plan([["a", "b"]], together={"r": ["a"], "s": ["a"]}), "a is of r and of s", None),
    (lambda: headway.walk(nx.MultiGraph([(1, 2), (1, 2)])), "multigraph", "networkx.Graph(graph)"),
    (lambda: headway.walk(nx.Graph([(1, 2), (3, 4)])), "not connected", "largest_component"),
    (lambda: headway.walk(nx.DiGraph([(1, 2), (2, 3)])), "not strongly connected", "largest_component"),
    (lambda: headway.walk(nx.Graph()), "at least 2", None),
    (lambda: headway.walk(nx.cycle_graph(5), 9), "tokens=9: the network has 5 nodes", "give at most tokens=5"),
    (lambda: headway.walk(nx.cycle_graph(5), 0), "nothing would ever move", "tokens=1 or more"),
    (lambda: headway.walk(nx.star_graph(5), 2, method="hamiltonian"), "no walk visits every node exactly once", None),
    (lambda: headway.walk(nx.cycle_graph(5), method="magic"), "expected best", None),
    (lambda: headway.walk(nx.cycle_graph(5), longest=4), "longest only has a meaning", 'method="exact"'),
    (lambda: petri.Net("<pnml"), "pnml:1", None),
    (lambda: petri.Net("hello"), "pnml:1", "expected a net in PNML"),
    (lambda: petri.Net.of_ring(headway.Ring(12, 3, 3)).marked({"nowhere": 3}), "no such place", None),
    (lambda: petri.Net.of_ring(headway.Ring(12, program="measure")), "measure", 'program="fixed"'),
    (lambda: petri.Net.of_ring(headway.Ring(12, 3, 3)).separate(99), "cannot be 99 places apart", "give separation=4 or less"),
    (lambda: headway.sweep(tokens="x+"), "tokens", None),
    (lambda: headway.sweep(tokens=2, measure="velocity"), "velocity", None),
    (lambda: headway.sweep(tokens=2, samples=0), "samples=0", None),
    (lambda: headway.sweep(tokens=2, samples=10**15), "would take more than 11 days", "give at most samples="),
    (lambda: headway.sweep(tokens=2, rows="all"), "expected cells or samples", None),
    (lambda: headway.sweep("x.toml", tokens=2), "tokens contradicts x.toml", "drop tokens"),
    (lambda: headway.sweep(tokens=2, parts=3), "parts only has a meaning", None),
    (lambda: headway.experiment("papers"), "unknown experiment 'papers'", "expected paper"),
    (lambda: headway.sweep(tokens=2, samples=1).ring(5, 0), "there is no ring of cell 5", None),
    (lambda: headway.Ring(12).run().positions, "were not kept", "record=True"),
]


@pytest.mark.parametrize("ask, says, help", IMPOSSIBLE, ids=range(len(IMPOSSIBLE)))
def test_what_cannot_be_says_why_and_what_to_do(ask, says, help):
    with pytest.raises(HeadwayError) as raised:
        ask()
    text = str(raised.value)
    assert says in text, text
    assert help is None or help in text, text
    assert "--" not in text and "panicked" not in text, text


def test_a_directed_ring_can_be_walked():
    graph = nx.cycle_graph(6, create_using=nx.DiGraph)
    assert headway.walk(graph, 2).walk[:6] in [[(k + s) % 6 for k in range(6)] for s in range(6)]


def test_the_largest_piece_of_a_network():
    graph = nx.Graph([("a", "b"), ("b", "c"), ("c", "a"), (1, 2)])
    with pytest.warns(UserWarning, match="largest of 2 components"):
        walk = headway.walk(graph, largest_component=True)
    assert set(walk.walk) == {"a", "b", "c"}


def test_nodes_keep_their_names():
    odd = [1, "1", (2, 3), frozenset({4}), 2.5]
    graph = nx.Graph(zip(odd, odd[1:] + odd[:1]))
    walk = headway.walk(graph, 2)
    assert set(walk.walk) == set(odd) == set(walk.visits)


anything = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.lists(st.integers(), max_size=3)


@settings(max_examples=pick(40, 150, 3000))
@given(st.dictionaries(st.sampled_from(sorted(inspect.signature(headway.Ring).parameters)), anything, max_size=4))
def test_a_ring_of_anything_is_a_ring_or_an_exception(arguments):
    for name in ("processes", "tokens"):
        # Rings that fit in memory take long to draw.
        if isinstance(arguments.get(name), int):
            arguments[name] = arguments[name] % 10**4 * (1 if arguments[name] >= 0 else -1)
    try:
        repr(headway.Ring(**arguments))
    except (TypeError, HeadwayError) as error:
        assert str(error)
