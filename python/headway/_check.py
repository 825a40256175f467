"""Every initial state, every schedule."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Union

from . import _headway, cluster
from ._answers import CheckAnswer
from ._arguments import PathLike, Progress, callback, optional, read, threads as how_many, whole, word
from ._arguments import delays as which
from ._ring import Ring


class Protocol:
    """A protocol in the language of docs/research/protocols.md."""

    def __init__(self, text: str, name: str = "protocol") -> None:
        self.text = word("text", text)
        self.name = word("name", name)

    @classmethod
    def from_file(cls, path: PathLike) -> Protocol:
        """That of a file."""
        return cls(read(path), os.fspath(path))

    def __repr__(self) -> str:
        return f"Protocol({self.name!r})"


class Witness:
    """A run that shows how slow it gets, or that a property does not hold."""

    def __init__(self, found: Dict[str, Any]) -> None:
        self.json = found

    @property
    def start(self) -> Optional[Ring]:
        """Its first state as a ring, where the model is of that kind."""
        start = self.json["start"]
        return None if start is None else Ring.from_json(start)

    @property
    def states(self) -> List[str]:
        """Its states in words."""
        return list(self.json["states_in_words"])

    @property
    def repeats_from(self) -> Optional[int]:
        """After the last state, the state of this index follows again."""
        found: Optional[int] = self.json["repeats_from"]
        return found

    def __repr__(self) -> str:
        return "\n".join(self.states)


class Check(CheckAnswer):
    """What was checked and what holds."""

    @property
    def holds(self) -> bool:
        """Whether every property holds."""
        return all(found["holds"] for found in self.json["properties"])

    @property
    def worst_case(self) -> Optional[int]:
        """The most rounds of a lock-step model, or steps; None without convergence."""
        return self.worst_steps

    @property
    def state_count(self) -> int:
        """How many states there are, exactly."""
        return int(self.json["state_count"])

    @property
    def legitimate_count(self) -> int:
        """How many of them are legitimate."""
        return int(self.json["legitimate_count"])

    @property
    def properties(self) -> Dict[str, bool]:
        """The named properties, and whether they hold."""
        return {found["name"]: found["holds"] for found in self.json["properties"]}

    @property
    def witness(self) -> Optional[Witness]:
        """A counterexample if a property fails, else a run as slow as the worst case."""
        found = self.json["witness"]
        return None if found is None else Witness(found)


def check(
    model: Union[str, "os.PathLike[str]", Protocol],
    *,
    scheduler: Optional[str] = None,
    threads: Optional[int] = None,
    memory: Optional[int] = None,
    progress: Progress = None,
    **settings: Any,
) -> Check:
    """Checks a model by its name (`headway.MODELS`), or a protocol: a file, whose name has a
    dot or a slash, or a :class:`Protocol`.

    settings: of a model, what `headway check MODEL --help` lists, with `_` for `-`:
    `check("delay-relay", processes=6, tokens=2, separation=3)`. Of a protocol, its
    parameters: `check("herman.protocol", n=9)`.
    scheduler: by default the one that the protocol names, else central.
    memory: for tables, in MiB.
    """
    if isinstance(model, os.PathLike) or isinstance(model, str) and any(c in model for c in "./\\"):
        model = Protocol.from_file(model)
    if scheduler is not None:
        word("scheduler", scheduler)
    mib = optional("memory", memory)
    if isinstance(model, Protocol):
        parameters = [(name, _signed(name, value)) for name, value in settings.items()]
        found = _headway.check_protocol(
            model.name, model.text, parameters, scheduler, how_many(threads), mib, callback(progress)
        )
    else:
        asked = {name: _setting(name, value) for name, value in settings.items()}
        if scheduler is not None:
            asked["scheduler"] = scheduler
        found = _headway.check_model(
            word("model", model), json.dumps(asked), how_many(threads), mib, callback(progress)
        )
    return Check(json.loads(found))


def check_many(
    questions: Iterable[Mapping[str, Any]], *, client: Any = None, ray: bool = False
) -> List[Check]:
    """The answers to many questions, each the arguments of :func:`check`:
    `check_many([{"model": "k-state", "processes": n} for n in range(3, 7)])`.

    client: a Dask client whose workers check; ray: let Ray do it.
    """
    asked = [dict(question) for question in questions]
    for question in asked:
        if "model" not in question:
            raise _headway.HeadwayError(f"{question}: which model? give each question a 'model'")
        if "progress" in question:
            raise _headway.HeadwayError("progress: has no meaning for one of many checks")
    return cluster.map_tasks(_checked, asked, client=client, ray=ray)


def _checked(question: Dict[str, Any]) -> Check:
    return check(**question)


def _signed(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: a parameter of a protocol is a whole number, not {value!r}")
    number = int(value)
    if not -(2**63) <= number < 2**63:
        raise _headway.HeadwayError(f"{name}={number}: expected a whole number from -2^63 to 2^63-1")
    return number


def _setting(name: str, value: Any) -> Any:
    if name == "delays":
        return which(value)
    if value is None or isinstance(value, (bool, str)):
        return value
    if name == "monitors" and hasattr(value, "__iter__"):
        return [whole(name, place) for place in value]
    return whole(name, value)
