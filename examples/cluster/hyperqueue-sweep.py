"""A sweep on HyperQueue (`pip install hyperqueue`): each task does one part, and a last one
joins them.

    python examples/cluster/hyperqueue-sweep.py my.toml 16 results [SERVER_DIR]

uses the server of SERVER_DIR, and without it starts a server and two workers here. The
folders have to be on a disk that all workers share. A task that is started again goes on
where it stopped.
"""

import os
import sys
from pathlib import Path

from hyperqueue import Client, Job
from hyperqueue.cluster import LocalCluster, WorkerConfig


def submit(client: Client, sweep: Path, parts: int, results: Path) -> None:
    headway = os.environ.get("HEADWAY", "headway")
    job = Job(max_fails=0)
    tasks = [
        job.program(
            [headway, "sweep", str(sweep), "--shard", f"{part}/{parts}", "--threads", "1", "--resume", "-o", str(results / f"part-{part}")],
            stdout=str(results / f"part-{part}.log"),
            stderr=str(results / f"part-{part}.err"),
        )
        for part in range(1, parts + 1)
    ]
    folders = [str(results / f"part-{part}") for part in range(1, parts + 1)]
    job.program(
        [headway, "sweep", "merge", *folders, "-o", str(results / "whole")],
        deps=tasks,
        stdout=str(results / "merge.log"),
        stderr=str(results / "merge.err"),
    )
    client.wait_for_jobs([client.submit(job)])


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    sweep, parts, results = Path(sys.argv[1]).resolve(), int(sys.argv[2]), Path(sys.argv[3]).resolve()
    results.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) == 5:
        submit(Client(Path(sys.argv[4])), sweep, parts, results)
    else:
        with LocalCluster() as cluster:
            for _ in range(2):
                cluster.start_worker(WorkerConfig(cores=1))
            submit(cluster.client(), sweep, parts, results)
