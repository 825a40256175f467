"""Measures what docs/python.md promises; `python python/bench.py` prints a table.

The package has to be installed; cargo builds what it is compared with. Starting and
forecasting are measured in processor time, and every figure is the best of several.
"""

import resource
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa

# Not the sources beside this file, which are not built: what is installed.
sys.path.pop(0)
import headway  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
PROFILE = sys.argv[1] if len(sys.argv) > 1 else "release"


def best(times, measure):
    return min(measure() for _ in range(times))


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def processor_time(command):
    """Of a command, in seconds: on a busy machine nothing else says anything."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def starting(code):
    return best(15, lambda: processor_time([sys.executable, "-c", code]))


def own_time(work):
    begin = time.process_time()
    work()
    return time.process_time() - begin


def row(what, found, baseline, value, promise, kept):
    print(f"| {what} | {found} | {baseline} | {value} | {promise} | {'yes' if kept else 'NO'} |")


print("| what | measured | baseline | ratio | promised | kept |\n|---|---|---|---|---|---|")

alone, both = starting("pass"), starting("import headway")
row("import headway", f"{(both - alone) * 1e3:.0f} ms", f"Python alone {alone * 1e3:.0f} ms", "", "< 50 ms", both - alone < 0.05)

build = ["cargo", "build", "--quiet", "--profile", PROFILE, "-p", "headway-answer", "--example", "many"]
subprocess.run(build, cwd=ROOT, check=True)
program = ROOT / "target" / PROFILE / "examples" / "many"
ours, rust = [], []
for _ in range(5):
    rust.append(processor_time([program]))
    ours.append(own_time(lambda: headway.forecast_many(24, 4, 5, seeds=range(10**6), threads=1)))
ratio = min(ours) / min(rust)
row("forecast of 10^6 random rings, one thread", f"{min(ours):.2f} s", f"from Rust {min(rust):.2f} s", f"{ratio:.2f}", "≤ 1.3", ratio <= 1.3)

samples = headway.sweep(tokens=2, samples=10**7, rows="samples").samples
taken = best(5, lambda: seconds(lambda: pa.table(samples)))
table = pa.table(samples)
columns = [name for name in table.column_names if not pa.types.is_dictionary(table[name].type)]
same = all(table[name].chunk(0).buffers()[1].address == samples._frame.address(name) for name in columns)
copied = best(3, lambda: seconds(lambda: [pa.concat_arrays([table[name].chunk(0)] * 2) for name in columns]))
row(f"{len(table):,} rows ({table.nbytes / 2**20:.0f} MB) to Arrow", f"{taken * 1e6:.0f} µs", f"a copy {copied / 2:.2f} s",
    f"{taken / (copied / 2):.1g}", "the same addresses", same)
frame = seconds(samples.to_pandas)
row("the same to pandas", f"{frame * 1e3:.1f} ms", "", "", "", True)
