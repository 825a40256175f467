"""Stations, and orders of a ring, from the members that may not be down together."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Hashable, Iterable, List, Mapping, Optional, Tuple, Union

from . import _headway
from ._answers import PlanAnswer
from ._arguments import PathLike, distinct, read, whole, word
from ._table import Svg

#: Who may not be down together: groups, a graph of networkx, or the path of a file.
Conflicts = Union[PathLike, Iterable[Iterable[Hashable]], Any]
#: Who goes together: members by place, or the path of a CSV file with the columns member,rack.
Together = Union[PathLike, Mapping[str, Iterable[Hashable]], None]


class Plan(PlanAnswer):
    """Stations, and an order of the ring in which members in conflict are near one another.

    Members are those that were given; `json` has their names instead.
    """

    def __init__(self, found: Dict[str, Any], picture: str, members: Dict[str, Hashable]) -> None:
        super().__init__(found)
        self._picture = picture
        self._members = members

    def _those(self, names: Iterable[str]) -> List[Any]:
        return [self._members.get(name, name) for name in names]

    @property
    def order(self) -> List[Any]:
        """The members in the order of the ring; places by their names."""
        return self._those(self.json["order"])

    @property
    def stations(self) -> List[List[Any]]:
        """Groups without conflicts, which can go as a whole, one after the other."""
        return [self._those(station) for station in self.json["stations"]]

    def svg(self) -> Svg:
        """What is proposed as a ring, with conflicts as chords."""
        return Svg(self._picture)

    def _repr_svg_(self) -> str:
        return self._picture


def plan(
    conflicts: Conflicts,
    *,
    input: Optional[str] = None,
    together: Together = None,
    seed: Optional[int] = None,
    effort: int = 1,
) -> Plan:
    """Divides members into the fewest stations without conflicts, and orders a ring so that
    members who may not be down together never hold permits together.

    conflicts: groups of members, a graph of networkx whose edges are conflicts, or the path
    of a file as `headway plan` reads it: groups, pairs, racks, Kafka, Cassandra, Ceph.
    input: what the file is, if it is not what it seems to be.
    together: members that share a place on the ring, by the name of the place, or a CSV file.
    """
    members: List[Hashable] = []
    groups: List[Tuple[str, List[str]]] = []
    file = None
    if isinstance(conflicts, (str, os.PathLike)):
        file = (os.fspath(conflicts), read(conflicts))
    else:
        if input is not None:
            word("input", input)
            raise _headway.HeadwayError("input: has a meaning for a file only\nhelp: drop input")
        labelled = _of_graph(conflicts) if hasattr(conflicts, "edges") else _of_groups(conflicts)
        members = list(dict.fromkeys(member for _, group in labelled for member in group))
        names = dict(zip(members, distinct(members)))
        groups = [(label, [names[member] for member in group]) for label, group in labelled]
    together_file = None
    places: Optional[Dict[str, List[str]]] = None
    if isinstance(together, (str, os.PathLike)):
        together_file = (os.fspath(together), read(together))
    elif together is not None:
        if not isinstance(together, Mapping):
            raise TypeError(f"together: expected members by place, or the path of a file, not {together!r}")
        known = dict(zip(members, distinct(members)))
        places = {str(place): [known.get(one, str(one)) for one in ones] for place, ones in together.items()}
    text, picture = _headway.plan(
        file,
        None if input is None else word("input", input),
        groups,
        together_file,
        places,
        2009 if seed is None else whole("seed", seed),
        whole("effort", effort, most=1000, least=1),
    )
    return Plan(json.loads(text), picture, dict(zip(distinct(members), members)))


def _of_graph(graph: Any) -> List[Tuple[str, List[Hashable]]]:
    if graph.is_directed():
        raise _headway.HeadwayError(
            "graph: conflicts have no direction\nhelp: give graph.to_undirected()"
        )
    alone = [(f"node {node}", [node]) for node in graph.nodes]
    return alone + [(f"edge {edge[0]}-{edge[1]}", [edge[0], edge[1]]) for edge in graph.edges]


def _of_groups(groups: Any) -> List[Tuple[str, List[Hashable]]]:
    expected = "expected groups of members, a graph of networkx, or the path of a file"
    if not hasattr(groups, "__iter__"):
        raise TypeError(f"conflicts: {expected}, not {type(groups).__name__}")
    found = []
    for index, group in enumerate(groups, 1):
        if isinstance(group, (str, bytes)) or not hasattr(group, "__iter__"):
            raise TypeError(f"conflicts: expected groups of members, and group {index} is {group!r}")
        members = list(group)
        for member in members:
            try:
                hash(member)
            except TypeError:
                raise TypeError(f"conflicts: expected members that can be hashed, not {member!r} in group {index}") from None
        found.append((f"group {index}", members))
    return found
