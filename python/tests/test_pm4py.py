"""Nets go to pm4py and come back."""

from fractions import Fraction

import pytest

import headway
from headway import petri

pm4py = pytest.importorskip("pm4py")


def test_there_and_back():
    ring = headway.Ring(9, 2, 3, delays="every:3", start="piled")
    net = petri.Net.of_ring(ring)
    there, marking, final = net.to_pm4py()
    assert len(there.places) == len(net.places) and len(there.transitions) == len(net.transitions)
    assert sum(marking.values()) == sum(net.marking.values()) and not final
    back = petri.Net.from_pm4py(there, marking)
    assert sorted(back.places) == sorted(net.places) and back.marking == net.marking
    assert back.cycle_time == net.cycle_time == Fraction(9, 2)
    assert back.analyze().transient == net.analyze().transient


def test_a_net_that_pm4py_made():
    from pm4py.objects.petri_net.obj import Marking, PetriNet
    from pm4py.objects.petri_net.utils.petri_utils import add_arc_from_to

    net = PetriNet("line")
    places = [PetriNet.Place(f"p{at}") for at in range(6)]
    transitions = [PetriNet.Transition(f"t{at}", f"step {at}") for at in range(6)]
    for at in range(6):
        net.places.add(places[at])
        net.transitions.add(transitions[at])
    for at in range(6):
        add_arc_from_to(places[at], transitions[at], net)
        add_arc_from_to(transitions[at], places[(at + 1) % 6], net)
    plant = petri.Net.from_pm4py(net, Marking({places[0]: 2}))
    assert plant.cycle_time == Fraction(3)
    done = plant.separate(3)
    assert done.holds and done.cycle_time == Fraction(3) and done.separated_from is not None
    # With a weight of 2 the circuit is no event graph's any more.
    for arc in net.arcs:
        if arc.source is places[0]:
            arc.weight = 2
    heavy = petri.Net.from_pm4py(net, Marking({places[0]: 2})).analyze()
    assert heavy.cycle_time is None and heavy.why_no_cycle_time
