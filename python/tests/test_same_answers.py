"""Python's answers are the command line's, number by number, and so are its sentences."""

import csv
import json
from fractions import Fraction

import networkx as nx
import pytest
from hypothesis import given, strategies as st

import headway

delays = st.one_of(
    st.just("all"),
    st.integers(0, 12),
    st.integers(1, 9).map(lambda k: f"every:{k}"),
    st.integers(1, 9).map(lambda k: f"even:{k}"),
    st.lists(st.integers(0, 25), min_size=1, max_size=4).map(lambda at: "at:" + ",".join(map(str, at))),
)
# Impossible ones too: what is said of them is compared as well.
rings = st.fixed_dictionaries(
    {},
    optional={
        "processes": st.integers(0, 40),
        "tokens": st.integers(0, 12),
        "separation": st.integers(0, 9),
        "delays": delays,
        "program": st.sampled_from(["fixed", "measure", "shortest-lap", "hop-count"]),
        "start": st.sampled_from(["random", "piled", "spaced", "worst"]),
        "limit": st.integers(1, 99),
        "seed": st.integers(0, 2**64 - 1),
    },
)


def flags(settings):
    return [part for name, value in settings.items() for part in (f"--{name.replace('_', '-')}", value)]


def same(said, ask):
    """Both answer the same JSON, or fail with the same sentence and the same help."""
    if said.code == 2:
        with pytest.raises(headway.HeadwayError) as raised:
            ask()
        message, help = said.failure
        assert raised.value._on_command_line == (message, help)
    else:
        assert ask().json == said.json


@given(rings, st.none() | st.integers(0, 60))
def test_run(headway_program, settings, rounds):
    more = [] if rounds is None else ["--rounds", rounds]
    said = headway_program("run", *flags(settings), *more, "--format", "json")
    same(said, lambda: headway.Ring(**settings).run(rounds))


@given(rings)
def test_forecast(headway_program, settings):
    said = headway_program("forecast", *flags(settings), "--format", "json")
    same(said, lambda: headway.Ring(**settings).forecast())


@given(st.integers(2, 40), st.integers(1, 6), st.integers(1, 6), delays, st.integers(0, 10**12))
def test_waits_and_states(headway_program, n, m, d, which, at):
    settings = {"processes": n, "tokens": m, "separation": d, "delays": which}
    said = headway_program("forecast", *flags(settings), "--waits", "--at", at, "--format", "json")
    if said.code == 2:
        return same(said, lambda: headway.Ring(**settings).forecast())
    forecast = headway.Ring(**settings).forecast()
    assert [list(wait) for wait in forecast.waits] == [list(wait.values()) for wait in said.json["waits"]]
    state = forecast.state(at)
    there = said.json["states"][0]["processes"]
    assert state.queued.tolist() == [process["queued"] for process in there]
    assert state.resting.tolist() == [process["resting"] for process in there]
    assert state.counter.tolist() == [process.get("counter", 0) for process in there]
    later = headway.Ring(**settings).after(at)
    assert later.state == state and json.loads(later.to_json())["processes"] == there


@given(st.fixed_dictionaries({}, optional={"processes": st.integers(0, 99), "tokens": st.integers(0, 9), "separation": st.integers(0, 12), "delays": delays}))
def test_worst_case(headway_program, settings):
    said = headway_program("worst", *flags(settings), "--format", "json")
    same(said, lambda: headway.worst_case(**settings))
    if said.code == 0:
        worst = headway.worst_case(**settings)
        assert worst.start.forecast().last_rest == worst.last_rest


@given(rings)
def test_a_ring_is_itself_again_from_its_state(settings):
    try:
        ring = headway.Ring(**settings)
    except headway.HeadwayError:
        return
    again = headway.Ring.from_json(ring.to_json(), seed=ring.seed)
    assert again == ring and again.run().json == ring.run().json


def test_faults_and_records(headway_program, tmp_path):
    trace = tmp_path / "run.jsonl"
    said = headway_program("run", "--rounds", 90, "--fault", "scramble@30", "--fault", "pile:7@60", "--format", "json",
                           "--trace", trace)
    outcome = headway.Ring().run(90, faults=["scramble@30", "pile:7@60"], record=True)
    assert outcome.json == said.json
    lines = [json.loads(line) for line in trace.read_text().splitlines()[1:]]
    rounds = [line["token_places"] for line in lines if "fault" not in line]
    assert outcome.positions.tolist() == [[place["process"] for place in places] for places in rounds]
    assert outcome.resting.tolist() == [[place["resting"] for place in places] for places in rounds]


CHECKS = [
    ("delay-relay", {"processes": 6, "tokens": 2, "separation": 3}),
    ("delay-relay", {"processes": 5, "tokens": 2, "separation": 3, "delays": "at:0"}),
    ("delay-relay", {"processes": 6, "tokens": 2, "all_placements": True}),
    ("delay-relay", {"processes": 5, "tokens": 2, "delays": "2"}),
    ("delay-relay", {"processes": 5, "tokens": 2, "all_placements": True, "unreduced": True}),
    ("measure", {"processes": 4}),
    ("measure", {"processes": 3, "tokens": 1, "delays": "all"}),
    ("measure-as-printed", {"processes": 5, "tokens": 2}),
    ("shortest-lap", {"processes": 2, "tokens": 1}),
    ("shortest-lap-epochs", {"processes": 2, "tokens": 1, "horizon": 2}),
    ("hop-count", {"processes": 3, "tokens": 1, "delays": "at:0,1"}),
    ("k-state", {"processes": 4, "values": 3, "scheduler": "central", "unreduced": True}),
    ("definitional", {"processes": 3, "values": 3}),
    ("phase-clock", {"processes": 4, "tail": 1}),
    ("asynchronous", {"processes": 3, "tokens": 1, "pace": 2, "without_previous": True}),
    ("handover", {"capacity": 1}),
    ("monitor", {"processes": 3, "tokens": 1, "monitors": "0,2"}),
    ("moving-block", {"clean_start": True, "believe_old_news": True}),
    ("stations", {"stations": "2,1", "clean_start": True}),
    ("patrol", {"processes": 2, "tokens": 1}),
    ("patrol", {"processes": 2, "tokens": 1, "ignore_moves": True}),
]


@pytest.mark.parametrize("model, settings", CHECKS)
def test_check(headway_program, model, settings):
    said = [part for name, value in settings.items()
            for part in ([f"--{name.replace('_', '-')}"] if value is True else [f"--{name.replace('_', '-')}", value])]
    asked = dict(settings)
    if "monitors" in asked:
        asked["monitors"] = [0, 2]
    same(headway_program("check", model, *said, "--format", "json"), lambda: headway.check(model, **asked))


def test_every_model_of_the_command_line_is_there(headway_program):
    listed = headway_program("check", "--help").out.split("Models:")[1].split("Arguments:")[0]
    names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "]
    assert sorted(names) == sorted(headway.MODELS)
    assert {model for model, _ in CHECKS} == set(headway.MODELS)


def test_protocol_files(headway_program, root, tmp_path):
    path = root / "examples" / "protocols" / "herman.protocol"
    said = headway_program("check", path, "--set", "n=5", "--format", "json")
    assert headway.check(path, n=5).json == said.json
    assert headway.check(headway.Protocol(path.read_text()), n=5).json == said.json
    wrong = tmp_path / "wrong.protocol"
    wrong.write_text(path.read_text().replace("{", "(", 1) + "\n%%%\n")
    same(headway_program("check", wrong), lambda: headway.check(wrong))


@given(st.integers(4, 14), st.integers(1, 4), st.integers(0, 99))
def test_walk(headway_program, tmp_path_factory, size, tokens, seed):
    graph = nx.gnm_random_graph(size, size * 3 // 2, seed=seed)
    path = tmp_path_factory.mktemp("walk") / "graph.json"
    path.write_text(json.dumps(nx.node_link_data(graph, edges="links")))
    said = headway_program("walk", path, "--tokens", tokens, "--format", "json")
    if said.code == 2:
        message, help = said.failure
        with pytest.raises(headway.HeadwayError) as raised:
            headway.walk(graph, tokens)
        where = message.replace(f"{path}: ", "graph: ")
        assert raised.value._on_command_line == (where, help)
        return
    walk = headway.walk(graph, tokens)
    assert walk.json == said.json
    steps = zip(walk.walk, walk.walk[1:] + walk.walk[:1])
    assert all(graph.has_edge(one, other) for one, other in steps) and set(walk.walk) == set(graph)


def test_petri(headway_program, root, tmp_path):
    ring = headway.Ring(12, 3, 3, delays="every:3", start="piled")
    net = headway.petri.Net.of_ring(ring)
    path = tmp_path / "ring.pnml"
    path.write_text(net.to_pnml())
    said = headway_program("petri", "analyze", path, "--format", "json").json
    assert net.analyze().json == said == headway.petri.Net.from_file(path).analyze().json
    assert net.cycle_time == Fraction(4) == Fraction(said["cycle_time"])
    assert net.ring() == ring
    plant = headway.Ring(12, 3, 1, delays="at:0", start="piled")
    path.write_text(plant.to_json())
    places = ",".join(headway.petri.Net.from_file(path).circuits()[-1]["place_names"])
    for more in (["--separation", 4], ["--separation", 4, "--method", "monitor"], ["--separation", 9]):
        said = headway_program("petri", "separate", path, "--ring", places, *more, "--format", "json")
        method = "monitor" if "monitor" in more else "minor-ring"
        same(said, lambda: headway.petri.Net.from_file(path).separate(more[1], ring=places.split(","), method=method))


@given(st.integers(0, 10**6), st.sampled_from(["legitimate_at", "flow", ["last_rest", "density"]]))
def test_sweep(headway_program, tmp_path_factory, seed, measure):
    folder = tmp_path_factory.mktemp("sweep") / "out"
    measures = [measure] if isinstance(measure, str) else measure
    said = headway_program(
        "sweep", "--processes", "20", "24", "--tokens", "1..3", "--delays", "even:2", "all", "--measure", *measures,
        "--percentiles", "50", "99.5", "--samples", 40, "--seed", seed, "--rows", "samples", "-o", folder,
    )
    assert said.code == 0, said.err
    results = headway.sweep(processes=[20, 24], tokens=range(1, 4), delays=["even:2", "all"], measure=measure,
                            percentiles=[50, 99.5], samples=40, seed=seed, rows="samples")
    for name, table in (("cells.csv", results), ("samples.csv", results.samples)):
        with open(folder / name, newline="") as file:
            rows = list(csv.reader(file))
        table = table.to_arrow()
        assert rows[0] == table.column_names
        assert rows[1:] == [[written(value) for value in row.values()] for row in table.to_pylist()]
    assert results.toml == (folder / "sweep.toml").read_text()


def written(value):
    """A value as a table of Headway has it."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def test_experiments(headway_program):
    listed = [line.split()[0] for line in headway_program("experiment").out.splitlines()]
    assert listed == headway.EXPERIMENTS
    paper = headway.experiment("paper", samples=20)
    assert len(paper.findings) == 5 and len(paper.figures) == 4
    assert all(figure.startswith("<svg") for figure in paper.figures.values())
    assert headway.experiment("jam", samples=1).findings == []


def test_a_million_of_them_are_the_same_one_by_one():
    found = headway.forecast_many(24, 4, 5, delays=3, seeds=range(100, 140)).to_arrow().to_pylist()
    for row in found:
        one = headway.Ring(24, 4, 5, delays=3, seed=row["seed"]).forecast()
        assert (row["legitimate_at"], row["last_rest"]) == (one.legitimate_at, one.last_rest)
    assert [row["seed"] for row in found] == list(range(100, 140))


def test_counter_test_other_numbers_are_noticed(headway_program):
    said = headway_program("forecast", "--seed", 1, "--format", "json")
    with pytest.raises(AssertionError):
        same(said, lambda: headway.Ring(seed=2).forecast())
    with pytest.raises(AssertionError):
        same(headway_program("run", "--tokens", 0), lambda: headway.Ring(0))


conflicts = st.lists(st.lists(st.integers(0, 14), min_size=1, max_size=4, unique=True), max_size=12)


@given(conflicts, st.integers(0, 9))
def test_plan(headway_program, tmp_path_factory, groups, seed):
    file = tmp_path_factory.mktemp("plan") / "groups.txt"
    file.write_text("".join(",".join(map(str, group)) + "\n" for group in groups))
    said = headway_program("plan", file, "--seed", seed, "--format", "json")
    same(said, lambda: headway.plan(file, seed=seed))
    if said.code == 2:
        return
    # The same from groups and from a graph, except that they have no lines to name.
    unnamed = ("lower_bound_because", "because")
    shown = {key: value for key, value in said.json.items() if key not in unnamed}
    graph = nx.Graph()
    for group in groups:
        graph.add_nodes_from(group)
        graph.add_edges_from((one, other) for one in group for other in group if one < other)
    for given_as in (groups, graph):
        plan = headway.plan(given_as, seed=seed)
        if given_as is groups:
            assert {key: value for key, value in plan.json.items() if key not in unnamed} == shown
        assert plan.separation == said.json["separation"] and plan.tokens == said.json["tokens"]
        assert sorted(plan.order) == sorted(graph.nodes)
        place = {member: at for at, member in enumerate(plan.order)}
        for one, other in graph.edges:
            hops = abs(place[one] - place[other])
            assert min(hops, len(place) - hops) < plan.separation
        for station in plan.stations:
            assert not graph.subgraph(station).edges
        assert plan.svg().startswith("<svg")


def test_plans_of_whole_racks(headway_program, root):
    folder = root / "examples" / "conflicts"
    said = headway_program("plan", folder / "assignment.json", "--together", folder / "brokers.csv", "--format", "json")
    by_file = headway.plan(folder / "assignment.json", together=folder / "brokers.csv")
    assert by_file.json == said.json
    racks = {"r1": ["1", "2"], "r2": ["3", "4"], "r3": ["5", "6"]}
    assert headway.plan(folder / "assignment.json", together=racks).json == said.json
    alone = headway.plan(folder / "assignment.json")
    assert alone.stations == [["1", "2"], ["3", "4"], ["5", "6"]]
    assert alone.tokens == 1 and alone.because.startswith("no order allows more than one")
