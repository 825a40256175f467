"""Frames of pandas and polars have a table's memory."""

import pytest

import headway

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


@pytest.fixture(scope="module")
def samples():
    return headway.sweep(tokens=[2, 3, 4], samples=500, rows="samples").samples


def test_pandas_has_the_same_memory(samples):
    frame = samples.to_pandas()
    assert isinstance(frame["legitimate_at"].dtype, pd.ArrowDtype)
    column = pa.chunked_array(frame["legitimate_at"].array.__arrow_array__())
    assert column.chunk(0).buffers()[1].address == samples._frame.address("legitimate_at")


def test_polars_has_the_same_memory(samples):
    frame = pl.DataFrame(samples)
    assert frame.shape == (1500, len(samples.columns))
    back = frame["legitimate_at"].to_arrow()
    assert back.buffers()[1].address == samples._frame.address("legitimate_at")
