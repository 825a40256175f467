"""More than one machine: work in parts on Dask or Ray.

A part is always the same for the same question, whoever does it and however often, so
that a worker that dies costs time and changes nothing.
"""

from __future__ import annotations

import time
from typing import Any, Callable, Iterable, List, Optional, TypeVar

from ._arguments import need
from ._headway import HeadwayError

__all__ = ["map_tasks", "workers"]

Task = TypeVar("Task")
Found = TypeVar("Found")

#: How often a part is tried again when its worker dies.
RETRIES = 10
#: How often we look whether all is done.
POLL_SECONDS = 0.02


def workers(client: Any = None, ray: bool = False) -> int:
    """How many parts can be worked on at once."""
    if client is not None:
        _open(client)
        return max(1, int(sum(client.nthreads().values())))
    if ray:
        return max(1, int(_ray().cluster_resources().get("CPU", 1)))
    return 1


def map_tasks(
    function: Callable[[Task], Found], tasks: Iterable[Task], *, client: Any = None, ray: bool = False
) -> List[Found]:
    """`[function(task) for task in tasks]`, done by the workers of a Dask client or of Ray.

    The function has to be importable by the workers, and to give the same answer whenever
    it is asked the same.
    """
    all_tasks = list(tasks)
    if client is not None and ray:
        raise HeadwayError("client and ray=True contradict each other\nhelp: give one of them")
    if client is not None:
        return _on_dask(function, all_tasks, client)
    if ray:
        return _on_ray(function, all_tasks)
    return [function(task) for task in all_tasks]


def _open(client: Any) -> None:
    if not all(hasattr(client, name) for name in ("map", "gather", "nthreads", "status")):
        raise TypeError(f"client: expected a distributed.Client, not {type(client).__name__}")
    if client.status != "running":
        raise HeadwayError(
            f"client: the Dask client is {client.status}\nhelp: open another one: distributed.Client(...)"
        )


def _on_dask(function: Callable[[Task], Found], tasks: List[Task], client: Any) -> List[Found]:
    _open(client)
    futures = client.map(function, tasks, pure=False, retries=RETRIES)
    try:
        # By what is known here: a client that is closed answers no more questions.
        waiting = list(futures)
        while waiting and client.status == "running":
            time.sleep(POLL_SECONDS)
            waiting = [future for future in waiting if future.status == "pending"]
            if any(future.status == "error" for future in futures):
                break
        if client.status != "running":
            raise HeadwayError(
                "client: the Dask client was closed before all parts were done\n"
                "help: keep it open until the answer is there"
            )
        found: List[Found] = client.gather(futures)
        return found
    except BaseException:
        if client.status == "running":
            client.cancel(futures)
        raise


def _ray() -> Any:
    ray = need("ray", "ray=True")
    if not ray.is_initialized():
        ray.init(ignore_reinit_error=True, log_to_driver=False)
    return ray


def _on_ray(function: Callable[[Task], Found], tasks: List[Task]) -> List[Found]:
    ray = _ray()
    remote = ray.remote(max_retries=RETRIES)(function)
    references = [remote.remote(task) for task in tasks]
    try:
        found: List[Found] = ray.get(references)
        return found
    except ray.exceptions.RayTaskError as error:
        cause: Optional[BaseException] = getattr(error, "cause", None)
        if isinstance(cause, HeadwayError):
            raise cause from None
        raise
    except BaseException:
        for reference in references:
            ray.cancel(reference, force=True)
        raise
