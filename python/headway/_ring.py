"""Rings: run, forecast, worst case."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

from . import _headway
from ._answers import ForecastAnswer, RunAnswer, WorstAnswer
from ._arguments import LARGEST, Delays, PathLike, Progress, callback, delays as which, need, optional, read, threads as how_many
from ._arguments import whole, word
from ._table import Svg, Table

MAX_DRAWN = 400


class Ring:
    """A ring of processes with tokens, in an initial state.

    Everything left out has a default: 24 processes, 4 tokens at least 5 hops apart, every
    process delays, and a random state from seed 2009.

    delays: "all", a number (so many, chosen by the seed), "even:4", "every:5" or places.
    program: "fixed", "measure", "shortest-lap", ... what the delaying processes run.
    start: "random", "piled", "spaced" or "worst".
    """

    _of: _headway.Instance

    def __init__(
        self,
        processes: Optional[int] = None,
        tokens: Optional[int] = None,
        separation: Optional[int] = None,
        *,
        delays: Optional[Delays] = None,
        program: Optional[str] = None,
        start: Optional[str] = None,
        seed: Optional[int] = None,
        limit: Optional[int] = None,
        horizon: Optional[int] = None,
    ) -> None:
        settings = _settings(
            processes=processes,
            tokens=tokens,
            separation=separation,
            delays=delays,
            program=program,
            start=start,
            seed=seed,
            limit=limit,
            horizon=horizon,
        )
        self._of = _headway.Instance.of_settings(settings)

    @classmethod
    def _new(cls, of: _headway.Instance) -> Ring:
        ring = cls.__new__(cls)
        ring._of = of
        return ring

    @classmethod
    def from_json(cls, text: Union[str, bytes, Dict[str, Any]], *, seed: Optional[int] = None) -> Ring:
        """The ring of a state file, given by its text or as parsed."""
        if isinstance(text, dict):
            text = json.dumps(text)
        if isinstance(text, bytes):
            text = text.decode()
        text = word("text", text)
        return cls._new(_headway.Instance.of_state("text", text, optional("seed", seed)))

    @classmethod
    def from_file(cls, path: PathLike, *, seed: Optional[int] = None) -> Ring:
        """The ring of a state file, as `headway run --start FILE` takes it."""
        return cls._new(_headway.Instance.of_state(str(path), read(path), optional("seed", seed)))

    def to_json(self) -> str:
        """The state file: every process with its program and its state."""
        return self._of.state_json()

    def __reduce__(self) -> Tuple[Any, ...]:
        return (_restored, (self.to_json(), self.seed))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ring) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    @property
    def _fields(self) -> Dict[str, Any]:
        fields: Dict[str, Any] = json.loads(self._of.fields())
        return fields

    @property
    def processes(self) -> int:
        """n."""
        return int(self._fields["processes"])

    @property
    def tokens(self) -> int:
        """m."""
        return int(self._fields["tokens"])

    @property
    def separation(self) -> int:
        """d, in hops."""
        return int(self._fields["separation"])

    @property
    def delays(self) -> List[int]:
        """The processes that delay."""
        return list(self._fields["delays"])

    @property
    def program(self) -> str:
        """What they run."""
        return str(self._fields["program"])

    @property
    def seed(self) -> int:
        """Of every random choice."""
        return int(self._fields["seed"])

    @property
    def feasible(self) -> bool:
        """Whether m·d ≤ n, so that there is room for the tokens."""
        return bool(self._fields["feasible"])

    @property
    def state(self) -> State:
        """The initial state."""
        return State(0, self._of.start_columns())

    @property
    def legitimate(self) -> bool:
        """Whether the initial state is legitimate."""
        return self._of.illegitimate() is None

    @property
    def illegitimate_because(self) -> Optional[str]:
        """Why it is not."""
        return self._of.illegitimate()

    def run(
        self,
        rounds: Optional[int] = None,
        *,
        faults: Union[str, Iterable[str]] = (),
        engine: str = "auto",
        record: bool = False,
        progress: Progress = None,
    ) -> Outcome:
        """Runs in lock-step, by default until legitimate and one turn more.

        faults: such as "scramble@30" or "pile:7@60".
        record: keep the way of every token; large runs take much memory.
        """
        struck = [faults] if isinstance(faults, str) else [word("faults", fault) for fault in faults]
        found, processes, resting = self._of.run(
            optional("rounds", rounds), struck, word("engine", engine), bool(record), callback(progress)
        )
        return Outcome(json.loads(found), (processes, resting) if record else None)

    def forecast(self, rounds: Optional[int] = None) -> Forecast:
        """The whole future, without running anything. Rings of delays and relays only."""
        rounds = optional("rounds", rounds)
        return Forecast(self._of, rounds, json.loads(self._of.forecast(rounds, False, [])))

    def after(self, rounds: int) -> Ring:
        """The same ring in its state so many rounds later, by the forecast."""
        return Ring._new(self._of.after(whole("rounds", rounds, 2**63)))

    def svg(self, rounds: Optional[int] = None) -> Svg:
        """The space-time diagram: processes to the right, rounds downwards."""
        return Svg(self._of.svg(optional("rounds", rounds)))

    def _repr_svg_(self) -> Optional[str]:
        # A ring that measures has no forecast to draw.
        try:
            return str(self.svg()) if self.processes <= MAX_DRAWN else None
        except _headway.HeadwayError:
            return None

    def __repr__(self) -> str:
        return f"<Ring: {self._of.title()}>"


def _restored(text: str, seed: int) -> Ring:
    return Ring.from_json(text, seed=seed)


class State:
    """A state as columns, one value a process."""

    def __init__(self, round: int, columns: Tuple[bytes, bytes, bytes]) -> None:
        self.round = round
        self._columns = columns

    def _column(self, index: int, kind: str) -> Any:
        return need("numpy", "a state").frombuffer(self._columns[index], dtype=kind)

    @property
    def queued(self) -> Any:
        """Tokens about to move on, as a numpy array."""
        return self._column(0, "uint32")

    @property
    def resting(self) -> Any:
        """Tokens that wait, as a numpy array."""
        return self._column(1, "uint32")

    @property
    def counter(self) -> Any:
        """Counters, as a numpy array."""
        return self._column(2, "int32")

    @property
    def tokens(self) -> Any:
        """Tokens at every process, as a numpy array."""
        return self.queued + self.resting

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self._columns == other._columns

    def __hash__(self) -> int:
        return hash(self._columns)

    def __repr__(self) -> str:
        return f"State(round={self.round}, processes={len(self._columns[0]) // 4})"


class Outcome(RunAnswer):
    """What a run has shown."""

    def __init__(self, found: Dict[str, Any], recorded: Optional[Tuple[bytes, bytes]]) -> None:
        super().__init__(found)
        self._recorded = recorded

    def _array(self, index: int, kind: str) -> Any:
        if self._recorded is None:
            raise _headway.HeadwayError("the ways of the tokens were not kept\nhelp: run(record=True) keeps them")
        flat = need("numpy", "a recorded run").frombuffer(self._recorded[index], dtype=kind)
        return flat.reshape(-1, self.json["tokens"])

    @property
    def positions(self) -> Any:
        """The process of every token after every round: a numpy array of rounds by tokens."""
        return self._array(0, "uint64")

    @property
    def resting(self) -> Any:
        """Whether it rests there, in the same shape."""
        return self._array(1, "bool")


class Wait(NamedTuple):
    """A token rests at a process after these rounds."""

    token: int
    process: int
    first: int
    last: int


class Forecast(ForecastAnswer):
    """The whole future of a ring."""

    def __init__(self, of: _headway.Instance, rounds: Optional[int], found: Dict[str, Any]) -> None:
        super().__init__(found)
        self._of = of
        self._rounds = rounds

    @property
    def cycle_time(self) -> Optional[Fraction]:
        """Rounds between two releases of a process in the long run."""
        found = self.json["cycle_time"]
        return None if found is None else Fraction(found)

    @property
    def waits(self) -> List[Wait]:
        """Every wait of every token, in the rounds that were forecast."""
        found = json.loads(self._of.forecast(self._rounds, True, []))["waits"]
        return [Wait(wait["token"], wait["process"], wait["from"], wait["to"]) for wait in found]

    def state(self, round: int) -> State:
        """The state after a round, however large."""
        round = whole("round", round, 2**63)
        return State(round, self._of.state(round))

    def svg(self) -> Svg:
        """The space-time diagram."""
        return Svg(self._of.svg(self._rounds))


class WorstCase(WorstAnswer):
    """The worst case over all initial states, and a state that attains it."""

    def __init__(self, found: Dict[str, Any], start: Ring) -> None:
        super().__init__(found)
        self.start = start


def worst_case(
    processes: Optional[int] = None,
    tokens: Optional[int] = None,
    separation: Optional[int] = None,
    *,
    delays: Optional[Delays] = None,
    seed: Optional[int] = None,
) -> WorstCase:
    """The slowest start of all, in closed form; see :class:`Ring` for the arguments."""
    settings = _settings(
        processes=processes, tokens=tokens, separation=separation, delays=delays, start="worst", seed=seed
    )
    found, start = _headway.worst_case(settings)
    return WorstCase(json.loads(found), Ring._new(start))


def forecast_many(
    processes: Optional[int] = None,
    tokens: Optional[int] = None,
    separation: Optional[int] = None,
    *,
    seeds: range,
    delays: Optional[Delays] = None,
    start: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> Table:
    """When rings of one kind settle, one for each seed of a range: a table with the columns
    seed, legitimate_at and last_rest."""
    settings = _settings(processes=processes, tokens=tokens, separation=separation, delays=delays, start=start)
    if not isinstance(seeds, range) or seeds.step != 1:
        raise TypeError(f"seeds: expected a range in steps of 1, such as range(1000), not {seeds!r}")
    first, end = whole("seeds", seeds.start), whole("seeds", max(seeds.start, seeds.stop))
    return Table(_headway.forecast_many(settings, first, end, how_many(threads), callback(progress)))


#: The largest number of those that are not up to 2^64-1.
_MOST = {"limit": 2**32 - 1, "horizon": 2**32 - 1}


def _settings(**given: Any) -> str:
    """Settings as JSON; what is None is left out."""
    words = {"program": _headway.PROGRAMS, "start": _headway.STARTS}
    settings: Dict[str, Any] = {}
    for name, value in given.items():
        if value is None:
            continue
        if name == "delays":
            settings[name] = which(value)
        elif name not in words:
            settings[name] = whole(name, value, _MOST.get(name, LARGEST))
        elif word(name, value) in words[name]:
            settings[name] = value
        else:
            more = "; Ring.from_file(path) reads a state file" if name == "start" else ""
            raise _headway.HeadwayError(f"{name}={value!r}: expected {', '.join(words[name])}{more}")
    return json.dumps(settings)
