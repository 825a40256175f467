"""Rings over networks."""

from __future__ import annotations

import json
import warnings
from typing import Any, Dict, Hashable, List, Optional, Tuple

from . import _headway
from ._answers import WalkAnswer
from ._arguments import distinct, optional, whole, word
from ._ring import Ring
from ._table import Svg


class Walk(WalkAnswer):
    """A closed walk that visits every node, and how far apart it keeps tokens.

    Nodes are those of the graph; `json` has their names instead.
    """

    def __init__(self, found: Dict[str, Any], picture: str, nodes: Dict[str, Hashable]) -> None:
        super().__init__(found)
        self._picture = picture
        self._nodes = nodes

    @property
    def walk(self) -> List[Hashable]:
        """The nodes in the order of the walk; after the last comes the first again."""
        return [self._nodes[name] for name in self.json["walk"]]

    @property
    def proved_best(self) -> bool:
        """Whether no walk of any length keeps more."""
        return self.proved_best_for_any_length

    @property
    def separation(self) -> int:
        """How far apart the protocol keeps the tokens on the walk."""
        return self.separation_on_walk

    @property
    def visits(self) -> Dict[Hashable, int]:
        """How often a turn visits every node."""
        return {self._nodes[name]: count for name, count in self.json["visits_by_node"].items()}

    @property
    def nearest(self) -> Optional[Tuple[Hashable, Hashable]]:
        """Two nodes where tokens are as near as they get."""
        nearest = self.json["nearest"]
        if nearest is None:
            return None
        one, other = (self._nodes[name] for name in nearest["node_names"])
        return one, other

    def ring(self, **more: Any) -> Ring:
        """The ring on this walk: a process for each position. More arguments as in Ring."""
        return Ring(len(self.json["walk"]), self.json["tokens"], self.separation, **more)

    def svg(self) -> Svg:
        """The network, the walk and the tokens."""
        return Svg(self._picture)

    def _repr_svg_(self) -> str:
        return self._picture


def walk(
    graph: Any,
    tokens: int = 2,
    separation: Optional[int] = None,
    *,
    method: str = "best",
    longest: Optional[int] = None,
    largest_component: bool = False,
    position: Optional[str] = "pos",
    seed: Optional[int] = None,
    effort: int = 1,
) -> Walk:
    """Lays a ring over a network so that tokens stay apart in it.

    graph: of networkx; in a directed one tokens move along the links only.
    separation: the distance wanted; once reached, the walk is shortened instead.
    method: "best", "hamiltonian", "orbit", "formation", "exact", ... as `headway walk --method`.
    position: the attribute of a node that says where to draw it, as (x, y).
    """
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed", "is_multigraph")):
        raise TypeError(f"graph: expected a graph of networkx, not {type(graph).__name__}")
    if graph.is_multigraph():
        kind = "DiGraph" if graph.is_directed() else "Graph"
        raise _headway.HeadwayError(
            "graph: a multigraph may have several links between two nodes, and a token needs one\n"
            f"help: give networkx.{kind}(graph)"
        )
    nodes: List[Hashable] = list(graph.nodes)
    names = distinct(nodes)
    number = {node: index for index, node in enumerate(nodes)}
    links = [(number[link[0]], number[link[1]]) for link in graph.edges]
    found = _headway.walk(
        names,
        links,
        bool(graph.is_directed()),
        _coordinates(graph, nodes, position),
        bool(largest_component),
        whole("tokens", tokens),
        optional("separation", separation, 2**32 - 1),
        word("method", method),
        optional("longest", longest),
        2009 if seed is None else whole("seed", seed),
        whole("effort", effort, most=1000, least=1),
    )
    text, picture, notes = found
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return Walk(json.loads(text), picture, dict(zip(names, nodes)))


def _coordinates(graph: Any, nodes: List[Hashable], position: Optional[str]) -> List[Tuple[int, float, float]]:
    if position is None:
        return []
    found = []
    for index, node in enumerate(nodes):
        place = graph.nodes[node].get(position)
        if place is None or len(place) < 2:
            return []
        # Pictures of networkx have y upwards.
        found.append((index, float(place[0]), -float(place[1])))
    return found
