"""Answers, pictures and tables."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from ._arguments import need
from ._headway import Frame


class Svg(str):
    """A picture: text in SVG, which Jupyter shows."""

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"<Svg of {len(self)} characters>"


class Answer:
    """What a command answers: `json` is what it prints with `--format json`, and every key
    of it is an attribute too. docs/json.md says what the keys mean."""

    def __init__(self, json: Dict[str, Any]) -> None:
        self.json = json

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["json"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name}") from None

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self.json})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answer) and type(self) is type(other) and self.json == other.json

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        short = {key: value for key, value in self.json.items() if not isinstance(value, (list, dict))}
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in short.items())})"


class Table:
    """A table in Arrow's memory. `pyarrow.table(table)`, `polars.DataFrame(table)` and all
    else that knows Arrow's PyCapsule interface take it as it is, without copying."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    @property
    def columns(self) -> List[str]:
        """The names of the columns."""
        return self._frame.columns

    def __len__(self) -> int:
        return len(self._frame)

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._frame.__arrow_c_schema__()

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`."""
        return need("pyarrow", "to_arrow").table(self)

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` with columns of `ArrowDtype`."""
        pandas = need("pandas", "to_pandas")
        return need("pyarrow", "to_pandas").table(self).to_pandas(types_mapper=pandas.ArrowDtype)

    def to_polars(self) -> Any:
        """A `polars.DataFrame`."""
        return need("polars", "to_polars").DataFrame(self)

    def __repr__(self) -> str:
        return f"Table({len(self)} rows: {', '.join(self.columns)})"
