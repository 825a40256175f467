"""Sweeps and checks on a real Ray cluster, while its workers are killed. `scripts/soak cluster`."""

import os
import signal
import threading
import time

import pytest

import headway

engine = pytest.importorskip("ray")
QUESTION = dict(processes=[40, 60], tokens=[2, 3, 5], delays=["all", 3], samples=60_000, percentiles=[50, 99])


@pytest.fixture(scope="module", autouse=True)
def cluster():
    engine.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    yield
    engine.shutdown()


def test_the_same_numbers():
    alone = headway.sweep(**QUESTION)
    together = headway.sweep(**QUESTION, ray=True)
    assert together.tallies == alone.tallies and together.to_arrow() == alone.to_arrow()


def test_workers_are_killed_meanwhile():
    alone = headway.sweep(**QUESTION)
    stop, killed = threading.Event(), []

    @engine.remote
    def pid():
        time.sleep(0.2)
        return os.getpid()

    victims = set(engine.get([pid.remote() for _ in range(6)]))

    def kill():
        for victim in victims:
            if stop.wait(0.3):
                return
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    murder = threading.Thread(target=kill)
    murder.start()
    together = headway.sweep(**QUESTION, ray=True, parts=80)
    stop.set()
    murder.join()
    assert killed and together.tallies == alone.tallies


def test_checks_and_what_is_wrong():
    questions = [{"model": "k-state", "processes": n} for n in (3, 4, 5)]
    assert headway.check_many(questions, ray=True) == headway.check_many(questions)
    with pytest.raises(headway.HeadwayError, match="there is no model"):
        headway.check_many([{"model": "x"}], ray=True)
