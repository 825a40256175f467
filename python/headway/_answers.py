"""What commands answer, as types.

Generated from the types of the answers: HEADWAY_UPDATE=1 cargo test -p headway --bin headway schemas
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Union

from ._table import Answer


class CheckAnswer(Answer):
    """headway check MODEL --format json."""

    model: str
    """The model that was checked."""

    instance: str
    """What was checked, in words."""

    scheduler: Optional[str]
    """Who chooses the next step; null for lock-step models."""

    closure: bool
    """Whether legitimate states only lead to legitimate ones."""

    convergence: bool
    """Whether every run becomes legitimate."""

    worst_steps: Optional[int]
    """Steps until legitimate at worst; null: there is no bound. What a step is, `step` says."""

    step: str
    """round for lock-step models; step where a scheduler chooses."""

    worst_moves: Optional[int]
    """The same in moves of processes, under a scheduler."""

    worst_rounds: Optional[int]
    """The same in rounds, under a scheduler."""

    reductions: List[str]
    """Reductions used; none when every state was visited."""

    distribution: Optional[List[str]]
    """How many states take 0, 1, 2, … rounds, as text."""

    mean: Optional[float]
    """The rounds or steps until legitimate, at worst or as chance expects them at worst, on average over all states."""

    never: Optional[str]
    """States that never become legitimate, as text."""

    diverging: Optional[int]
    """States from which some run never becomes legitimate."""

    expected_steps_exact: Optional[str]
    """Where chance decides: the worst expected number of steps, a fraction such as 4/3."""

    expected_steps_low: Optional[float]
    """The worst expected number of steps is at least this."""

    expected_steps_high: Optional[float]
    """The worst expected number of steps is at most this."""

    certain_steps: Optional[int]
    """The worst case in steps if chance were against it too."""

    engine: Optional[str]
    """How the states of a protocol file were explored, and why so."""

    layers: Optional[List[str]]
    """How many states take 0, 1, 2, … steps at worst."""

    diverging_states: Optional[str]
    """States from which some run never becomes legitimate."""

    diagram_nodes: Optional[int]
    """Nodes of the largest decision diagram."""

    placements_followed: Optional[int]
    """Placements of tokens followed, up to rotation."""

    cases_followed: Optional[int]
    """Sets of states followed to their end."""

    placements: Optional[int]
    """Placements of delays, up to rotation."""

    worst_last_rest: Optional[int]
    """The last round, counted from the start or the last fault, after which a token can rest, over all states of this ring; null: there is no bound."""

    steps_between_states: Optional[int]
    """Transitions between states."""

    least_true_distance: Optional[int]
    """Smallest distance between tokens in real time."""

    true_distance_bound: Optional[int]
    """The proved bound of that."""

    cases: Optional[int]
    """Cases that were looked at."""


class ForecastAnswer(Answer):
    """headway forecast --format json."""

    seed: int
    """Seed of every random choice."""

    processes: int
    """n, the number of processes of the ring."""

    tokens: int
    """m, a number of tokens."""

    separation: int
    """d, the hops that tokens are to keep apart: what was asked for, what a ring that measures found, or what conflicts need."""

    program: str
    """What the delaying processes run: delay, measure, measure-as-printed, shortest-lap, shortest-lap-epochs or hop-count; mixed where they differ, relay where none delays, moving-block where all processes do that."""

    delays: List[int]
    """The processes that delay; all others relay."""

    feasible: bool
    """Whether the tokens fit: m·d ≤ n."""

    station_sizes: Optional[List[int]]
    """Processes of each station, if the ring is cut into stations; separations and distances then count stations."""

    worst_last_rest: Optional[int]
    """The last round, counted from the start or the last fault, after which a token can rest, over all states of this ring; null: there is no bound."""

    worst_legitimate_at: Optional[int]
    """The round, counted from the start or the last fault, by which every state of this ring is legitimate; null: there is no bound."""

    rounds: int
    """Rounds that were run or forecast."""

    legitimate_at: Optional[int]
    """The first round at whose end the state is legitimate; null: never."""

    last_rest: Optional[int]
    """The last round after which a token rests; null: none ever does."""

    min_distance_before: Optional[int]
    """Smallest distance between successive tokens, in hops, while not legitimate."""

    min_distance_after: Optional[int]
    """Smallest distance between successive tokens, in hops, since all is well."""

    visits: Optional[Dict[str, Any]]
    """Fewest and most visits of a process since the state is legitimate; null: it is not."""

    desiderata: Dict[str, Any]
    """Whether each of the five desired properties held."""

    legitimate: bool
    """Whether the state is legitimate; of a run, its last state."""

    recoveries: List[Dict[str, Any]]
    """The faults in order, with the recovery from each: in rounds where the ring runs in lock-step, in seconds where it is real."""

    jam: Optional[Dict[str, Any]]
    """What a ring with more tokens than fit does forever."""

    states: List[Dict[str, Any]]
    """States in the form of the state file, with the round that led there."""


class AnalysisAnswer(Answer):
    """headway petri analyze --format json."""

    net: str
    """The net's id."""

    places: int
    """How many places."""

    transitions: int
    """How many transitions."""

    arcs: int
    """How many arcs."""

    tokens: Optional[int]
    """m, a number of tokens."""

    event_graph: bool
    """Whether every place has one transition before and one after it."""

    why_not_event_graph: Optional[str]
    """Why it is none."""

    strongly_connected: Optional[bool]
    """Whether every node can be reached from every other."""

    live: Optional[bool]
    """Whether every transition can always fire again; null: not decided."""

    unmarked_circuit: Optional[List[str]]
    """A circuit without tokens, which is why it is not live."""

    bounded: Optional[bool]
    """Whether no place ever gets arbitrarily many tokens; null: not decided."""

    safe: Optional[bool]
    """Whether no place ever has two tokens; null: not decided."""

    largest_bound: Optional[int]
    """The most tokens that any place can have."""

    invariants: Optional[List[Dict[str, Any]]]
    """Places whose tokens are always the same in number."""

    why_no_cycle_time: Optional[str]
    """Why there is none."""

    certificate_verified: Optional[bool]
    """Whether the cycle time was checked against its certificate."""

    critical_circuit: Optional[List[str]]
    """The slowest circuit: its places."""

    critical_places: Optional[List[str]]
    """Places of all slowest circuits."""

    critical_transitions: Optional[List[str]]
    """Transitions of all slowest circuits."""

    cyclicity: Optional[str]
    """Cyclicity of the critical part, as text."""

    transient: Optional[int]
    """The round from which firings are periodic."""

    state_transient: Optional[int]
    """The round from which markings are."""

    period: Optional[int]
    """After so many rounds it repeats; null: not known."""

    why_no_transient: Optional[str]
    """Why it is not known."""

    published_bounds: List[Dict[str, Any]]
    """Bounds of the transient from the literature."""

    as_ring: Optional[Dict[str, Any]]
    """The ring that the net stands for; null: it stands for none."""

    why_live: Optional[str]
    """Why it is live or not, or why that is not known."""

    why_bounded: Optional[str]
    """Why it is bounded or not, or why that is not known."""

    why_safe: Optional[str]
    """Why it is safe or not, or why that is not known."""

    why_never_stuck: Optional[str]
    """What it gets stuck by, or why that is not known."""

    free_choice: Optional[bool]
    """Whether places with a common consumer have all of them in common; null: not asked."""

    never_stuck: Optional[bool]
    """Whether something can always fire; null: not decided."""

    markings: Optional[int]
    """How many markings can be reached; null: not all were made."""

    p_invariants: Optional[List[Dict[str, Any]]]
    """Minimal weighted sums of tokens that no firing changes; null: not all were found, or not asked."""

    why_no_p_invariants: Optional[str]
    """Why they are not known."""

    t_invariants: Optional[List[Dict[str, Any]]]
    """Minimal numbers of firings that change no marking; null: not all were found, or not asked."""

    why_no_t_invariants: Optional[str]
    """Why they are not known."""

    siphons: Optional[List[Dict[str, Any]]]
    """Minimal sets of places that stay empty once they are; null: not all were found, or not asked."""

    why_no_siphons: Optional[str]
    """Why they are not known."""

    traps: Optional[List[Dict[str, Any]]]
    """Minimal sets of places that stay marked once they are; null: not all were found, or not asked."""

    why_no_traps: Optional[str]
    """Why they are not known."""


class PlanAnswer(Answer):
    """headway plan --format json: stations, and a ring order that keeps conflicting members apart."""

    members: int
    """How many members the ring has."""

    conflicting_pairs: int
    """How many pairs may not be down together."""

    separation: int
    """d, the hops that tokens are to keep apart: what was asked for, what a ring that measures found, or what conflicts need."""

    tokens: int
    """m, a number of tokens."""

    lower_bound: int
    """The separation that no order can undercut."""

    lower_bound_because: str
    """Why not."""

    optimal: bool
    """Whether no order has a smaller separation."""

    tokens_at_most: int
    """The tokens that no order exceeds."""

    because: Optional[str]
    """The reason."""

    stations_at_least: int
    """Fewer stations are not enough."""

    stations_because: str
    """Why not."""

    works_by_stations: int
    """Works one after another until every member has had its turn, by stations, if all take as long."""

    works_by_order: int
    """The same in the order of the ring."""

    proposed: str
    """What is faster: stations, or the order of the ring; of equals the order."""

    proposed_because: str
    """Why."""

    members_by_place: Optional[Dict[str, Any]]
    """Who shares a place on the ring, by the name of the place."""

    seed: int
    """Seed of every random choice."""

    effort: int
    """How hard was looked."""

    interrupted: bool
    """Whether Ctrl-C stopped the search, so that this is the best so far."""


class RunAnswer(Answer):
    """headway run --format json."""

    seed: int
    """Seed of every random choice."""

    processes: int
    """n, the number of processes of the ring."""

    tokens: int
    """m, a number of tokens."""

    separation: int
    """d, the hops that tokens are to keep apart: what was asked for, what a ring that measures found, or what conflicts need."""

    program: str
    """What the delaying processes run: delay, measure, measure-as-printed, shortest-lap, shortest-lap-epochs or hop-count; mixed where they differ, relay where none delays, moving-block where all processes do that."""

    delays: List[int]
    """The processes that delay; all others relay."""

    feasible: bool
    """Whether the tokens fit: m·d ≤ n."""

    station_sizes: Optional[List[int]]
    """Processes of each station, if the ring is cut into stations; separations and distances then count stations."""

    worst_last_rest: Optional[int]
    """The last round, counted from the start or the last fault, after which a token can rest, over all states of this ring; null: there is no bound."""

    worst_legitimate_at: Optional[int]
    """The round, counted from the start or the last fault, by which every state of this ring is legitimate; null: there is no bound."""

    rounds: int
    """Rounds that were run or forecast."""

    legitimate_at: Optional[int]
    """The first round at whose end the state is legitimate; null: never."""

    last_rest: Optional[int]
    """The last round after which a token rests; null: none ever does."""

    min_distance_before: Optional[int]
    """Smallest distance between successive tokens, in hops, while not legitimate."""

    min_distance_after: Optional[int]
    """Smallest distance between successive tokens, in hops, since all is well."""

    visits: Optional[Dict[str, Any]]
    """Fewest and most visits of a process since the state is legitimate; null: it is not."""

    desiderata: Dict[str, Any]
    """Whether each of the five desired properties held."""

    legitimate: bool
    """Whether the state is legitimate; of a run, its last state."""

    recoveries: List[Dict[str, Any]]
    """The faults in order, with the recovery from each: in rounds where the ring runs in lock-step, in seconds where it is real."""

    believed: List[Optional[int]]
    """The separation that each process believes in at the end; null: it measures nothing."""

    all_believe_at: Optional[int]
    """The round since which all processes that measure believe in ⌊n/m⌋; null: not yet."""

    over_network: Optional[Dict[str, Any]]
    """Distances between tokens in the network below the ring."""


class WalkAnswer(Answer):
    """headway walk --format json, and the walk file: a walk, rings, or why there is neither."""

    format: str
    """The format of this file."""

    tokens: int
    """m, a number of tokens."""

    length: int
    """Steps of the walk."""

    separation_on_walk: int
    """Steps between successive tokens on the walk."""

    distance_kept: Optional[int]
    """Distance in the network that tokens keep forever; null: there is one token."""

    distance_wanted: Optional[int]
    """Distance asked for."""

    upper_bound: Optional[int]
    """More cannot be kept, by any walk."""

    upper_bound_because: Optional[str]
    """Why not."""

    gap: Optional[int]
    """upper_bound less distance_kept."""

    proved_best_for_any_length: bool
    """No walk of any length keeps more."""

    proved_best_up_to_length: Optional[int]
    """No walk up to this length keeps more."""

    method: str
    """How it was made."""

    seed: int
    """Seed of every random choice."""

    effort: int
    """How hard was looked."""

    token_positions: List[int]
    """Positions of the tokens on the walk."""

    visits_by_node: Dict[str, Any]
    """How often the walk visits each node."""

    rounds_between_visits: Dict[str, Any]
    """Fewest and most rounds between two visits of each node."""

    equal_visits: Dict[str, Any]
    """Whether all nodes can be visited equally often while all tokens move."""

    hamiltonian_cycle: Optional[str]
    """Whether a walk visits every node exactly once: yes, no with the reason, or not found; null: not asked."""

    capacity: Optional[List[Dict[str, Any]]]
    """For each distance in the network: how far apart on the walk that is, and how many tokens keep it."""

    kept_by_tokens: Optional[List[Dict[str, Any]]]
    """For each number of tokens: what they keep."""

    network: Any
    """The network as node-link JSON, as networkx reads and writes it."""

    interrupted: Optional[bool]
    """Whether Ctrl-C stopped the search, so that this is the best so far."""


class WorstAnswer(Answer):
    """headway worst --format json."""

    seed: int
    """Seed of every random choice."""

    processes: int
    """n, the number of processes of the ring."""

    tokens: int
    """m, a number of tokens."""

    separation: int
    """d, the hops that tokens are to keep apart: what was asked for, what a ring that measures found, or what conflicts need."""

    program: str
    """What the delaying processes run: delay, measure, measure-as-printed, shortest-lap, shortest-lap-epochs or hop-count; mixed where they differ, relay where none delays, moving-block where all processes do that."""

    delays: List[int]
    """The processes that delay; all others relay."""

    feasible: bool
    """Whether the tokens fit: m·d ≤ n."""

    station_sizes: Optional[List[int]]
    """Processes of each station, if the ring is cut into stations; separations and distances then count stations."""

    widest_gap: int
    """L, the largest distance from one delay to the next, in hops."""

    worst_last_rest: int
    """The last round, counted from the start or the last fault, after which a token can rest, over all states of this ring; null: there is no bound."""

    worst_legitimate_at: int
    """The round, counted from the start or the last fault, by which every state of this ring is legitimate; null: there is no bound."""

    last_rest: Optional[int]
    """The last round after which a token rests; null: none ever does."""

    legitimate_at: Optional[int]
    """The first round at whose end the state is legitimate; null: never."""

    attained: bool
    """Whether the state given takes as long to be legitimate as the worst case."""

    state: Dict[str, Any]
    """A state in the form of the state file."""
