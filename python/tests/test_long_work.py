"""Other threads go on, progress is told, Ctrl-C works."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import headway


@pytest.mark.parametrize("work", [
    lambda: headway.check("delay-relay", processes=7, tokens=2, separation=3, unreduced=True),
    lambda: headway.sweep(tokens=[2, 3], samples=20_000),
    lambda: headway.Ring(20_000, 5_000, 3).run(400),
    lambda: headway.Ring(400_000, 1000, 100).forecast(),
    lambda: headway.forecast_many(24, 4, 5, seeds=range(50_000)),
], ids=["check", "sweep", "run", "forecast", "forecast_many"])
def test_other_threads_go_on(work):
    counted, inside = [0], threading.Event()
    ended = threading.Event()

    def count():
        while not ended.is_set():
            if inside.is_set():
                counted[0] += 1

    counter = threading.Thread(target=count)
    counter.start()
    try:
        inside.set()
        work()
        inside.clear()
    finally:
        ended.set()
        counter.join()
    assert counted[0] > 100


def test_progress_is_told_and_comes_to_an_end():
    told = []
    headway.sweep(tokens=[2, 3], samples=100_000, progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told) and told[-1] == (200_000, 200_000)


def test_an_exception_of_a_callback_stops_the_work():
    def enough(done, total):
        raise LookupError("enough")

    for work in (
        lambda: headway.Ring(24).run(10**12, progress=enough),
        lambda: headway.sweep(tokens=2, samples=10**10, progress=enough),
        lambda: headway.check("delay-relay", processes=10, tokens=4, separation=2, unreduced=True, progress=enough),
    ):
        with pytest.raises(LookupError, match="enough"):
            work()


def test_a_bar_of_tqdm():
    headway.sweep(tokens=2, samples=1000, progress=True)


LONG = {
    "run": "headway.Ring(24).run(10**12)",
    "sweep": "headway.sweep(tokens=2, samples=10**10)",
    "check": "headway.check('delay-relay', processes=11, tokens=4, separation=2, unreduced=True)",
    "plan": "headway.plan(networkx.gnm_random_graph(300, 900, seed=4), effort=1000)",
    "walk": "headway.walk(networkx.random_geometric_graph(600, 0.09, seed=4), 3, effort=1000, largest_component=True)",
    "forecast_many": "headway.forecast_many(seeds=range(10**12))",
}


def ticks_of(child):
    """The processor time that a process has used."""
    after_name = Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(after_name[11]) + int(after_name[12])


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="it takes Linux to see that a process works")
@pytest.mark.parametrize("work", LONG)
def test_ctrl_c(work):
    code = (
        "import headway, networkx, signal, sys, warnings\n"
        "warnings.simplefilter('ignore')\n"
        # What runs in the background may have been told to ignore it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "try:\n"
        "    print('begun', flush=True)\n"
        f"    {LONG[work]}\n"
        "except KeyboardInterrupt:\n"
        "    signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "    sys.exit(77)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "begun\n"
        # It is within the work when it has worked for a while, however slow the machine is.
        begun = ticks_of(child)
        while ticks_of(child) < begun + 20:
            assert child.poll() is None
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGINT)
        child.wait(120)
        assert child.returncode == 77
    finally:
        child.kill()
        child.wait()


def test_rings_and_nets_can_be_sent_elsewhere():
    ring = headway.Ring(24, 4, 5, seed=3)
    again = pickle.loads(pickle.dumps(ring))
    assert again == ring and again.seed == 3 and again.run().json == ring.run().json
    net = headway.petri.Net.of_ring(ring)
    assert pickle.loads(pickle.dumps(net)).analyze().json == net.analyze().json
    with pytest.raises(headway.HeadwayError) as raised:
        headway.Ring(0)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
