"""Petri nets: exchange, exact analysis, and separation added to a plant."""

from __future__ import annotations

import json
import os
import warnings
from fractions import Fraction
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from . import _headway
from ._answers import AnalysisAnswer
from ._arguments import PathLike, optional, read, whole, word
from ._ring import Ring
from ._table import Answer, Svg

__all__ = ["Analysis", "Net", "Separated"]


def _fraction(text: Optional[str]) -> Optional[Fraction]:
    return None if text is None else Fraction(text)


class Analysis(AnalysisAnswer):
    """Everything that is found out about a net; where something is not known, `json` says why."""

    @property
    def cycle_time(self) -> Optional[Fraction]:
        """Rounds between two firings in the long run, exact."""
        return _fraction(self.json["cycle_time"])

    @property
    def eigenvector(self) -> Optional[List[Optional[Fraction]]]:
        """When each transition fires first in a schedule that repeats, exact."""
        times = self.json["eigenvector"]
        return None if times is None else [_fraction(time) for time in times]


class Separated(Answer):
    """A plant with separation added."""

    def __init__(self, found: Dict[str, Any], net: Net, holds: bool) -> None:
        super().__init__(found)
        self.net = net
        #: Whether the tokens become separated, and go on if they did before.
        self.holds = holds

    @property
    def cycle_time_before(self) -> Optional[Fraction]:
        """That of the plant."""
        return _fraction(self.json["before"]["cycle_time"])

    @property
    def cycle_time(self) -> Optional[Fraction]:
        """That of the plant with control."""
        return _fraction(self.json["after"]["cycle_time"])

    @property
    def separated_from(self) -> Optional[int]:
        """The round from which on the tokens are separated."""
        found: Optional[int] = self.json["after"]["separated_from"]
        return found


class Net:
    """A Petri net with its marking."""

    _of: _headway.Net

    def __init__(self, pnml: Union[str, bytes], *, id: Optional[str] = None, name: str = "pnml") -> None:
        """The net of a text in PNML; `id` chooses one of several."""
        if not isinstance(pnml, (str, bytes)):
            raise TypeError(f"pnml: expected a text in PNML, not {pnml!r}; Net.from_file(path) reads a file")
        data = pnml.encode() if isinstance(pnml, str) else pnml
        self._of, remarks = _headway.Net.read(word("name", name), data, id)
        for remark in remarks:
            warnings.warn(remark, stacklevel=2)

    @classmethod
    def _new(cls, of: _headway.Net) -> Net:
        net = cls.__new__(cls)
        net._of = of
        return net

    @classmethod
    def from_file(cls, path: PathLike, *, id: Optional[str] = None) -> Net:
        """The net of a PNML file, or of a ring's state file."""
        return cls(read(path), id=id, name=os.fspath(path))

    @classmethod
    def of_ring(cls, ring: Ring) -> Net:
        """A ring as a net: a place for each process, and a minor ring for each delay."""
        if not isinstance(ring, Ring):
            raise TypeError(f"ring: expected a headway.Ring, not {ring!r}")
        return cls._new(_headway.Net.of_ring(ring._of))

    @classmethod
    def from_pm4py(cls, net: Any, initial_marking: Any) -> Net:
        """A net of pm4py with its initial marking."""
        from xml.etree import ElementTree

        from ._arguments import need

        if not all(hasattr(net, name) for name in ("places", "transitions", "arcs")):
            raise TypeError(f"net: expected a PetriNet of pm4py, not {type(net).__name__}")
        exporter = need("pm4py.objects.petri_net.exporter.variants.pnml", "from_pm4py")
        tree = ElementTree.fromstring(exporter.export_petri_as_string(net, initial_marking))
        # It has sets, whose order differs from run to run.
        order = ["place", "transition", "arc"]
        for page in tree.iter("page"):
            page[:] = sorted(
                (node for node in page if node.tag in order),
                key=lambda node: (order.index(node.tag), node.get("source", ""), node.get("target", node.get("id", ""))),
            )
        # What its PNML leaves out is none of the user's business.
        return cls._new(_headway.Net.read("pm4py", ElementTree.tostring(tree), None)[0])

    def to_pm4py(self) -> Tuple[Any, Any, Any]:
        """The net, its marking and an empty final marking, as pm4py has them. Nodes are
        named by their ids."""
        from ._arguments import need

        need("pm4py", "to_pm4py")
        objects = need("pm4py.objects.petri_net.obj", "to_pm4py")
        utils = need("pm4py.objects.petri_net.utils.petri_utils", "to_pm4py")
        structure = json.loads(self._of.structure())
        net = objects.PetriNet(self.id)
        nodes = {}
        marking = objects.Marking()
        for place, tokens in self.marking.items():
            nodes[place] = objects.PetriNet.Place(place)
            net.places.add(nodes[place])
            if tokens:
                marking[nodes[place]] = tokens
        for transition in self.transitions:
            nodes[transition] = objects.PetriNet.Transition(transition, transition)
            net.transitions.add(nodes[transition])
        for source, target, weight in structure:
            utils.add_arc_from_to(nodes[source], nodes[target], net, weight)
        return net, marking, objects.Marking()

    def to_pnml(self) -> str:
        """The net in PNML."""
        return self._of.pnml()

    @property
    def id(self) -> str:
        """Its name in PNML."""
        return self._of.id

    @property
    def marking(self) -> Dict[str, int]:
        """The tokens on every place, by id."""
        return dict(self._of.marking())

    @property
    def places(self) -> List[str]:
        """The ids of the places."""
        return list(self.marking)

    @property
    def transitions(self) -> List[str]:
        """The ids of the transitions."""
        return self._of.transitions()

    def marked(self, marks: Mapping[str, int]) -> Net:
        """The same net with other numbers of tokens on some places."""
        return Net._new(self._of.mark([(word("place", place), whole(place, tokens)) for place, tokens in marks.items()]))

    def ring(self) -> Ring:
        """The ring whose net this is."""
        return Ring._new(self._of.ring())

    def analyze(self, *, max_rounds: Optional[int] = None, max_markings: Optional[int] = None) -> Analysis:
        """Structure, cycle time with a checked certificate, transient; exact."""
        found = self._of.analyze(optional("max_rounds", max_rounds), optional("max_markings", max_markings))
        return Analysis(json.loads(found))

    @property
    def cycle_time(self) -> Optional[Fraction]:
        """Rounds between two firings in the long run; None where there is none."""
        return self.analyze().cycle_time

    def circuits(self, most: int = 100) -> List[Dict[str, Any]]:
        """The circuits to choose from in `separate`."""
        found: List[Dict[str, Any]] = json.loads(self._of.circuits(whole("most", most)))["circuits"]
        return found

    def separate(
        self,
        separation: int,
        *,
        ring: Union[str, Iterable[str]] = "auto",
        transitions: Iterable[str] = (),
        method: str = "minor-ring",
        max_rounds: int = 100_000,
    ) -> Separated:
        """Adds control that keeps the tokens of a circuit apart.

        ring: the places of the circuit in order, or "auto" where one alone has two tokens.
        method: "minor-ring" (from any marking) or "monitor" (from a legal one).
        """
        places = [ring] if isinstance(ring, str) else [word("ring", place) for place in ring]
        found, net, holds = self._of.separate(
            places,
            whole("separation", separation, 2**32 - 1),
            [word("transitions", transition) for transition in transitions],
            word("method", method),
            whole("max_rounds", max_rounds),
        )
        return Separated(json.loads(found), Net._new(net), holds)

    def svg(self) -> Svg:
        """The net as a picture."""
        return Svg(self._of.svg())

    def _repr_svg_(self) -> str:
        return self._of.svg()

    def __reduce__(self) -> Tuple[Any, ...]:
        return (Net, (self.to_pnml(),))

    def __repr__(self) -> str:
        return f"<Net {self.id}: {len(self.places)} places, {len(self.transitions)} transitions>"
