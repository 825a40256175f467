"""Sweeps and checks on a real Dask cluster of several processes: the same, bit for bit."""

import os
import signal
import threading
import time

import pytest

import headway

distributed = pytest.importorskip("distributed")

QUESTION = dict(processes=[40, 60], tokens=[2, 3, 5], delays=["all", 3], samples=1500, percentiles=[50, 99])


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def tables(results):
    more = [] if results.samples is None else [results.samples.to_arrow()]
    return [results.to_arrow(), *more]


def test_the_same_numbers(client):
    alone = headway.sweep(**QUESTION)
    for parts in (None, 1, 7, 100):
        together = headway.sweep(**QUESTION, client=client, parts=parts)
        assert together.tallies == alone.tallies
        assert tables(together) == tables(alone)


def test_the_same_samples(client):
    question = {**QUESTION, "samples": 50, "rows": "samples"}
    assert tables(headway.sweep(**question, client=client, parts=11)) == tables(headway.sweep(**question))


def test_workers_are_killed_meanwhile(client):
    question = {**QUESTION, "samples": 60_000}
    alone = headway.sweep(**question)
    victims = [info["pid"] for info in client.run(lambda: {"pid": os.getpid()}).values()]
    killed = []

    def kill():
        # The nanny starts another worker in its place.
        for victim in victims[:2]:
            time.sleep(0.3)
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    murder = threading.Thread(target=kill)
    murder.start()
    together = headway.sweep(**question, client=client, parts=60)
    murder.join()
    assert len(killed) == 2
    assert together.tallies == alone.tallies and tables(together) == tables(alone)


def test_checks(client):
    questions = [{"model": "k-state", "processes": n, "values": k} for n in (3, 4) for k in (2, 3, 4)]
    alone = headway.check_many(questions)
    assert [check.json for check in headway.check_many(questions, client=client)] == [check.json for check in alone]
    assert [check.holds for check in alone] == [headway.check(**question).holds for question in questions]


def test_what_is_wrong_is_said_as_usual(client):
    with pytest.raises(headway.HeadwayError, match="there is no model 'k-states'"):
        headway.check_many([{"model": "k-states"}], client=client)


def test_counter_test_another_sum_is_noticed():
    sweep = headway._headway.Sweep.grid("x", [("tokens", ["2"])], [], [], None, [], 100, 1, False)
    parts = [sweep.part(index, 4) for index in range(4)]
    whole = sweep.run(1, None)[2]
    assert sweep.join(parts)[2] == sweep.join(parts[::-1])[2] == whole
    for wrong in (parts[:3], parts + parts[:1]):
        with pytest.raises(headway.HeadwayError, match="samples .* of cell 0 are"):
            sweep.join(wrong)
    other = headway._headway.Sweep.grid("x", [("tokens", ["2"])], [], [], None, [], 100, 2, False)
    assert sweep.join([other.part(0, 4), *parts[1:]])[2] != whole


def test_a_closed_client():
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        client = distributed.Client(cluster)
        client.close()
        with pytest.raises(headway.HeadwayError, match="the Dask client is closed"):
            headway.sweep(tokens=2, samples=10, client=client)
        client = distributed.Client(cluster)
        closing = threading.Timer(1.0, client.close)
        closing.start()
        with pytest.raises(headway.HeadwayError, match="closed before all parts were done"):
            headway.sweep(tokens=2, samples=10**8, client=client, parts=1000)
        closing.join()


def test_both_is_a_contradiction(client):
    with pytest.raises(headway.HeadwayError, match="contradict"):
        headway.check_many([{"model": "handover"}], client=client, ray=True)
