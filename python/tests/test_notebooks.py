"""The notebooks do what they show. `HEADWAY_UPDATE=1` writes their outputs anew."""

import os
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
import nbformat  # noqa: E402

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = ["paper", "predict-and-check", "protocol", "plant", "topology", "dask"]


def shown(notebook):
    """What a reader sees: texts and pictures, cell by cell."""
    outputs = []
    for cell in notebook.cells:
        # A cell that prints slowly prints in pieces.
        outputs.append("".join(output.text for output in cell.get("outputs", []) if output.get("name") == "stdout"))
        for output in cell.get("outputs", []):
            if output.output_type in ("execute_result", "display_data"):
                outputs += [output.data.get("text/plain"), output.data.get("image/svg+xml")]
            else:
                assert output.output_type == "stream", output
    return outputs


def executed(notebook):
    again = nbformat.from_dict(notebook)
    for cell in again.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbclient.NotebookClient(again, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}},
                            record_timing=False).execute()
    return again


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook(name):
    path = FOLDER / f"{name}.ipynb"
    kept = nbformat.read(path, 4)
    before = shown(kept)
    again = executed(kept)
    if os.environ.get("HEADWAY_UPDATE"):
        for cell in again.cells:
            for output in cell.get("outputs", []):
                # Pages for browsers are large and say the same.
                output.get("data", {}).pop("text/html", None)
            if "outputs" in cell:
                printed = "".join(output.text for output in cell.outputs if output.get("name") == "stdout")
                cell.outputs = [output for output in cell.outputs if output.output_type != "stream"]
                if printed:
                    cell.outputs.insert(0, nbformat.v4.new_output("stream", name="stdout", text=printed))
        nbformat.write(again, path)
        before = shown(nbformat.read(path, 4))
    assert shown(again) == before
    assert sum(bool(output) for output in before) >= 5


def test_every_notebook_is_tested():
    assert sorted(NOTEBOOKS) == sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def test_counter_test_another_output_is_noticed():
    notebook = nbformat.read(FOLDER / "protocol.ipynb", 4)
    kept = shown(notebook)
    for cell in notebook.cells:
        if "range(2, 6)" in cell.source:
            cell.source = cell.source.replace("range(2, 6)", "range(2, 5)")
    assert shown(executed(notebook)) != kept
