"""What arguments may be, and what is said of those that may not."""

from __future__ import annotations

import operator
import os
from typing import Any, Callable, Hashable, Iterable, List, Optional, Sequence, Union

from ._headway import HeadwayError

#: Hears how much is done of how much; 0 in all where that is not known.
Callback = Callable[[int, int], object]
#: A callback, True for a bar of tqdm, or nothing.
Progress = Union[Callback, bool, None]
#: Which processes delay: "all", a number, "even:4", "every:5", or their places.
Delays = Union[str, int, Iterable[int]]
PathLike = Union[str, "os.PathLike[str]"]

LARGEST = 2**64 - 1


def whole(name: str, value: Any, most: int = LARGEST, least: int = 0) -> int:
    """A whole number, or a TypeError or HeadwayError that says what was expected."""
    if isinstance(value, bool):
        raise TypeError(f"{name}: expected a whole number, not {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected a whole number, not {value!r}") from None
    if not least <= number <= most:
        raise HeadwayError(f"{name}={number}: expected a whole number from {least} to {most}")
    return number


def optional(name: str, value: Any, most: int = LARGEST, least: int = 0) -> Optional[int]:
    """The same, or None."""
    return None if value is None else whole(name, value, most, least)


def threads(value: Any) -> Optional[int]:
    """How many threads; None stands for one per core."""
    return optional("threads", value, most=65535, least=1)


def word(name: str, value: Any) -> str:
    """A text, such as the name of a start."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a text, not {value!r}")
    return value


def delays(value: Any) -> Optional[str]:
    """Which processes delay, as the command line writes it."""
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "__iter__"):
        places = [str(whole("delays", place)) for place in value]
        if not places:
            raise HeadwayError(
                "delays=[]: no process delays, so nothing would pull the tokens apart; at least one has to"
            )
        return "at:" + ",".join(places)
    return str(whole("delays", value))


def texts(name: str, value: Any) -> List[str]:
    """One or several values of an axis, as a sweep file writes them."""
    if value is None:
        return []
    if isinstance(value, range) and value.step == 1 and len(value) > 1:
        return [f"{value.start}..{value.stop - 1}"]
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        value = [value]
    return [one if isinstance(one, str) else str(whole(name, one)) for one in value]


def callback(progress: Progress) -> Optional[Callback]:
    """What to call; a bar of tqdm for True."""
    if progress is None or progress is False:
        return None
    if callable(progress):
        return progress
    if progress is not True:
        raise TypeError(f"progress: expected a function of (done, total), or True, not {progress!r}")
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise HeadwayError(
            "progress=True: tqdm is not installed\nhelp: pip install tqdm, or give a function of (done, total)"
        ) from None
    bar = tqdm(total=None)

    def show(done: int, total: int) -> None:
        bar.total = total or None
        bar.n = done
        bar.refresh()
        if total and done >= total:
            bar.close()

    return show


def distinct(nodes: Sequence[Hashable]) -> List[str]:
    """Names for nodes, no two the same."""
    names = [str(node) for node in nodes]
    if len(set(names)) < len(names):
        names = [f"{type(node).__name__} {node!r}" for node in nodes]
    if len(set(names)) < len(names):
        names = [f"node {index}" for index in range(len(nodes))]
    return names


def need(module: str, what: str) -> Any:
    """A module that not everybody has."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.split(".")[0]
        raise HeadwayError(f"{what} needs {package}\nhelp: pip install {package}") from None


def read(path: PathLike) -> str:
    """A file as text, or a HeadwayError that says what is wrong with it."""
    name = os.fspath(path)
    try:
        with open(name, encoding="utf-8") as file:
            return file.read()
    except UnicodeDecodeError:
        raise HeadwayError(f"{name}: this is not text in UTF-8\nhelp: give a text file, or convert it to UTF-8") from None
    except OSError as error:
        why = (error.strerror or "it cannot be opened").lower()
        raise HeadwayError(f"cannot read {name}: {why}\nhelp: check the path") from None
