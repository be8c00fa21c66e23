import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from deepspeech.cluster.allreduce import ring as module
from deepspeech.cluster.allreduce.ring import Ring, RingBrokenError, RingListener, RingPlace

KEY = "0123456789abcdef"


def places(listeners: Sequence[RingListener], keys: Sequence[str] = ()) -> list[RingPlace]:
    size = len(listeners)
    return [
        RingPlace(keys[rank] if keys else KEY, rank, size, f"localhost:{listeners[(rank + 1) % size].port}")
        for rank in range(size)
    ]


def in_ring(size: int, act: Callable[[Ring, int], Any], is_current: Callable[[], bool] = lambda: True) -> list[Any]:
    """Return the result of `act` in each process of a ring; the processes are threads here."""
    listeners = [RingListener(0) for _ in range(size)]

    def take_part(place: RingPlace) -> Any:
        rings[place.rank] = listeners[place.rank].join(place, is_current)
        found = act(rings[place.rank], place.rank)
        rings[place.rank].go_around()
        return found

    rings: dict[int, Ring] = {}
    with ThreadPoolExecutor(size) as threads:
        found = list(threads.map(take_part, places(listeners)))
    for ring in rings.values():
        ring.close()
    return found


@pytest.mark.parametrize(("size", "count"), [(1, 5), (2, 100_001), (3, 2), (5, 1_000_000)])
def test_all_processes_have_the_same_sum_bit_for_bit(size: int, count: int) -> None:
    values = [np.random.default_rng(rank).normal(size=count).astype(np.float32) for rank in range(size)]

    def mean(ring: Ring, rank: int) -> Any:
        total = np.empty(count, np.float32)
        ring.add_up(values[rank], total, divisor=size)
        return total

    means = in_ring(size, mean)
    assert all(each.tobytes() == means[0].tobytes() for each in means)
    np.testing.assert_allclose(means[0], np.mean(values, axis=0, dtype=np.float64), atol=1e-6)


def test_numbers_that_travel_as_bfloat16_are_the_same_at_all_processes_too_and_half_the_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    size, count = 3, 9999
    values = [np.random.default_rng(rank).normal(size=count).astype(np.float32) for rank in range(size)]
    sent = {"float32": 0, "bfloat16": 0}
    exchange = Ring._exchange

    def total(ring: Ring, rank: int) -> Any:
        sums = {}
        for name in sent:
            sums[name] = np.empty(count, np.float32)
            ring.add_up(values[rank], sums[name], sent_as=name)
        return sums

    def counted(self: Ring, out: Any, into: Any) -> None:
        if out.dtype != np.uint8:
            sent["bfloat16" if out.dtype == ml_dtypes.bfloat16 else "float32"] += out.nbytes
        exchange(self, out, into)

    monkeypatch.setattr(Ring, "_exchange", counted)
    sums = in_ring(size, total)
    assert sent == {"float32": 4 * count * size * 4 // 3, "bfloat16": 2 * count * size * 4 // 3}
    assert all(each["bfloat16"].tobytes() == sums[0]["bfloat16"].tobytes() for each in sums)
    np.testing.assert_allclose(sums[0]["bfloat16"], np.sum(values, axis=0), atol=0.05)


def test_the_first_process_gives_its_arrays_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE_BYTES", 1000)
    given: list[Any] = [
        np.arange(999, dtype=np.float32).reshape(3, 333),
        np.array(7, np.int64),
        np.empty(0, np.float32),
    ]

    def copied(ring: Ring, rank: int) -> Any:
        arrays = [each.copy() if rank == 0 else np.zeros_like(each) for each in given]
        ring.copy_from_first(arrays)
        return arrays

    for arrays in in_ring(4, copied):
        for array, wanted in zip(arrays, given, strict=True):
            np.testing.assert_array_equal(array, wanted)


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="there is no IPv6 here")
def test_processes_meet_at_addresses_of_both_kinds() -> None:
    listeners = [RingListener(0), RingListener(0)]
    hosts = ("127.0.0.1", "[::1]")
    ring = [RingPlace(KEY, rank, 2, f"{hosts[rank]}:{listeners[1 - rank].port}") for rank in range(2)]
    with ThreadPoolExecutor(2) as threads:
        joined = list(threads.map(lambda place: listeners[place.rank].join(place, lambda: True), ring))
    for each in joined:
        each.close()


def test_a_process_that_leaves_breaks_the_ring_for_all() -> None:
    def outcome(ring: Ring, rank: int) -> str:
        if rank == 2:
            ring.close()
            return "left"
        try:
            ring.add_up(np.zeros(1_000_000, np.float32), np.empty(1_000_000, np.float32))
        except RingBrokenError as error:
            ring.close()
            return str(error)
        return "summed"

    listeners = [RingListener(0) for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        joined = list(threads.map(lambda place: listeners[place.rank].join(place, lambda: True), places(listeners)))
        outcomes = list(threads.map(outcome, joined, range(4)))
    assert outcomes.pop(2) == "left"
    assert all("has left the ring" in each or "connection" in each for each in outcomes), outcomes


def test_strangers_and_processes_of_another_ring_are_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "JOINING_SECONDS", 0.5)
    listeners = [RingListener(0), RingListener(0)]
    with socket.create_connection(("localhost", listeners[0].port)) as stranger:
        stranger.sendall(b"x" * len(KEY))
        with ThreadPoolExecutor(2) as threads:
            here, other = (
                threads.submit(listeners[place.rank].join, place, lambda: True)
                for place in places(listeners, [KEY, KEY[::-1]])
            )
        for each in (here, other):
            with pytest.raises(RingBrokenError, match=r"did not connect for|has left the ring"):
                each.result()


def test_those_who_connect_and_say_nothing_hold_up_no_ring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "JOINING_SECONDS", 60)
    listeners = [RingListener(0), RingListener(0)]
    with ExitStack() as strangers, ThreadPoolExecutor(2) as threads:
        silent = [socket.create_connection(("localhost", listeners[0].port)) for _ in range(40)]
        for each in silent:
            strangers.enter_context(each)
        joined = list(threads.map(lambda place: listeners[place.rank].join(place, lambda: True), places(listeners)))
        for each in silent:
            each.settimeout(60)
            assert each.recv(1) == b""  # closed
    for each in joined:
        each.close()


def test_a_caller_for_whom_no_descriptor_is_left_is_not_tried_again_at_once() -> None:
    script = """
import os, resource, socket, time
from deepspeech.cluster.allreduce.greetings import Greetings
listener, caller, (to_next, _next) = socket.create_server(("127.0.0.1", 0)), socket.socket(), socket.socketpair()
with Greetings(listener, to_next, b"key") as greetings:
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    with open(os.devnull) as next_one:
        resource.setrlimit(resource.RLIMIT_NOFILE, (next_one.fileno(), files[1]))
    caller.connect(listener.getsockname())
    caller.sendall(b"key")
    begin = time.monotonic()
    print([greetings.heard(60) for _ in range(5)], time.monotonic() - begin > 0.4)
    resource.setrlimit(resource.RLIMIT_NOFILE, files)
    greetings.heard(60)
    print(greetings.heard(60).getpeername() == caller.getsockname())
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert found.splitlines() == [f"{[None] * 5} True", "True"]


def test_a_ring_that_is_no_longer_wanted_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "JOINING_SECONDS", 600)
    listeners, wanted = [RingListener(0), RingListener(0)], threading.Event()
    wanted.set()
    threading.Timer(0.3, wanted.clear).start()
    with pytest.raises(RingBrokenError, match="the group of workers has changed"):
        listeners[0].join(places(listeners)[0], wanted.is_set)


def test_a_worker_that_does_not_listen_is_named() -> None:
    listeners = [RingListener(0), RingListener(0)]
    place = places(listeners)[0]
    listeners[1]._socket.close()
    with pytest.raises(RingBrokenError, match=rf"the worker at {place.next} cannot be reached"):
        listeners[0].join(place, lambda: True)
