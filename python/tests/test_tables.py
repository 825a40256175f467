"""Tables are handed over without copying; states are numpy arrays."""

import numpy as np
import pyarrow as pa
import pytest

import headway


@pytest.fixture(scope="module")
def results():
    return headway.sweep(tokens=[2, 3, 4], samples=500, rows="samples")


def test_arrow_takes_the_memory_as_it_is(results):
    for table in (results, results.samples):
        arrow = pa.table(table)
        assert len(table) == arrow.num_rows and table.columns == arrow.column_names
        for name in ("cell", "processes", arrow.column_names[-1]):
            assert arrow[name].num_chunks == 1
            assert arrow[name].chunk(0).buffers()[1].address == table._frame.address(name)


def test_counter_test_a_copy_is_noticed(results):
    arrow = pa.table(results.samples)
    copied = pa.concat_arrays([arrow["cell"].chunk(0), arrow["cell"].chunk(0)])
    assert copied.buffers()[1].address != results.samples._frame.address("cell")


def test_a_table_outlives_what_it_came_from():
    arrow = pa.table(headway.sweep(tokens=2, samples=10))
    assert arrow["samples"].to_pylist() == [10]


def test_states_are_arrays():
    ring = headway.Ring(24, 4, 5, start="piled")
    state = ring.state
    assert state.resting.dtype == np.uint32 and state.resting.tolist() == [4] + [0] * 23
    assert not state.resting.flags.writeable
    forecast = ring.forecast()
    for round in (0, 5, 10**12):
        assert forecast.state(round).tokens.sum() == 4
    run = ring.run(40, record=True)
    for round in range(41):
        counts = np.bincount(run.positions[round].astype(int), minlength=24)
        assert (counts == forecast.state(round).tokens).all()


def test_pictures_are_shown():
    ring = headway.Ring(24)
    assert ring._repr_svg_().startswith("<svg") and ring.svg()._repr_svg_() == str(ring.svg())
    assert headway.Ring(10_000)._repr_svg_() is None and headway.Ring(24, program="measure")._repr_svg_() is None


def test_answers_have_the_keys_as_attributes():
    outcome = headway.Ring(24).run()
    assert outcome.min_distance_after == outcome.json["min_distance_after"]
    assert "visits" in dir(outcome)
    with pytest.raises(AttributeError, match="Outcome has no colour"):
        outcome.colour
