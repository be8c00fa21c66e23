"""Threads that share an engine: their requests are computed together, and no thread depends on the others."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from deepspeech.serving.batching.scheduler import AcousticStream, Scheduler
from deepspeech.serving.engine import Engine, Piece, State
from deepspeech.serving.frozen.model import FrozenModel, read_frozen_model

Array = npt.NDArray[np.float32]
FRAMES = 16

FORK = """
import os, sys, threading, numpy, soundfile
import deepspeech
model = deepspeech.Model(sys.argv[1])
samples = soundfile.read(sys.argv[2], dtype="int16")[0]
inside, never = threading.Event(), threading.Event()
run_batch = model._engine.run_batch
def hanging(pieces, cores_left):
    inside.set()
    never.wait()
model._engine.run_batch = hanging
threading.Thread(target=model.stt, args=[samples], daemon=True).start()
inside.wait()
child = os.fork()
if not child:
    model._engine.run_batch = run_batch
    print(model.stt(samples), flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


class WatchedEngine(Engine):
    """An engine that counts the pieces of each batch and the cores left, and calls `before` before it computes one."""

    def __init__(self, model: FrozenModel) -> None:
        super().__init__(model)
        self.sizes: list[int] = []
        self.cores_left: list[int] = []
        self.before: Callable[[], None] = lambda: None

    def run_batch(self, pieces: Sequence[Piece], cores_left: int = 0) -> list[tuple[Array, State]]:
        self.sizes.append(len(pieces))
        self.cores_left.append(cores_left)
        self.before()
        return super().run_batch(pieces, cores_left)


@pytest.fixture
def engine(graph_file: Path) -> WatchedEngine:
    return WatchedEngine(read_frozen_model(graph_file))


def windows_of(seed: int, frames: int = FRAMES) -> Array:
    return np.random.default_rng(seed).normal(size=(frames, 19 * 26)).astype(np.float32)


def in_threads(works: Sequence[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def test_streams_of_threads_are_computed_together_as_each_is_alone(engine: WatchedEngine) -> None:
    scheduler = Scheduler(engine, max_wait=0.2)
    found: dict[int, Array] = {}
    lengths = [1, 16, 40, 300]

    def talk(seed: int) -> None:
        stream = scheduler.stream()
        windows = [windows_of(10 * seed + turn, lengths[(seed + turn) % 4]) for turn in range(6)]
        found[seed] = np.concatenate([stream.run(each, last=turn == 5) for turn, each in enumerate(windows)])

    def wait_for_others() -> None:  # on a busy machine, threads may begin one after the other
        while engine.sizes == [engine.sizes[0]] and max(engine.sizes[0], len(scheduler._waiting)) < 3:
            time.sleep(0.01)

    engine.before = wait_for_others
    in_threads([lambda seed=seed: talk(seed) for seed in range(5)])  # type: ignore[misc]
    assert max(engine.sizes) >= 3
    for seed, posteriors in found.items():
        whole = np.concatenate([windows_of(10 * seed + turn, lengths[(seed + turn) % 4]) for turn in range(6)])
        np.testing.assert_allclose(posteriors, engine.posteriors(whole), atol=1e-4)


@pytest.mark.parametrize("computes_little", [False, True])
def test_a_core_is_left_to_decode_only_where_that_takes_longer_than_the_network(
    engine: WatchedEngine, *, computes_little: bool
) -> None:
    engine.computes_little = computes_little
    scheduler = Scheduler(engine, max_wait=0.2)

    def wait_for_another() -> None:
        while engine.sizes == [1] and not scheduler._waiting:
            time.sleep(0.01)

    engine.before = wait_for_another
    talkers = [scheduler.stream() for _ in range(3)]
    in_threads([lambda stream=stream: stream.run(windows_of(1)) for stream in talkers])  # type: ignore[misc]
    assert engine.cores_left == [computes_little and size > 1 for size in engine.sizes]


class TurnsOfThree(Engine):
    """An engine that takes at most three windows at a time, and notes them, and whether they are the last."""

    def __init__(self, model: FrozenModel) -> None:
        super().__init__(model)
        self.largest_turn = 3
        self.turns: list[tuple[int, bool]] = []

    def run_batch(self, pieces: Sequence[Piece], cores_left: int = 0) -> list[tuple[Array, State]]:
        self.turns += [(len(piece.windows), piece.last) for piece in pieces]
        return super().run_batch(pieces, cores_left)


@pytest.mark.parametrize("last", [False, True])
def test_windows_are_computed_in_turns_of_which_only_the_end_is_the_last(graph_file: Path, last: bool) -> None:
    engine = TurnsOfThree(read_frozen_model(graph_file))
    for frames, turns in ((2, [2]), (3, [3]), (4, [3, 1]), (6, [3, 3])):
        engine.turns = []
        rows = Scheduler(engine).stream().run(windows_of(1, frames), last=last)
        assert engine.turns == [(turn, last and place == len(turns)) for place, turn in enumerate(turns, 1)]
        whole, _ = engine.run_batch([Piece(windows_of(1, frames), engine.initial_state(), last)])[0]
        np.testing.assert_allclose(rows, whole, rtol=1e-5)


def test_a_stream_that_is_alone_waits_for_nobody_and_no_thread_is_started(engine: WatchedEngine) -> None:
    threads, started = set(threading.enumerate()), time.monotonic()
    scheduler = Scheduler(engine, max_wait=60)
    other = scheduler.stream()  # which never makes a request
    stream = scheduler.stream()
    for turn in range(3):
        stream.run(windows_of(turn))
    assert time.monotonic() - started < 30
    assert set(threading.enumerate()) <= threads  # some of them may end meanwhile
    del other


def test_an_error_of_one_stream_does_not_reach_the_others(engine: WatchedEngine) -> None:
    scheduler, barrier = Scheduler(engine), threading.Barrier(4)
    outcomes: list[int] = []

    def talk(stream: AcousticStream, windows: Array) -> None:
        barrier.wait()
        try:
            outcomes.append(len(stream.run(windows)))
        except ValueError:
            outcomes.append(-1)

    engine.before = lambda: time.sleep(0.05)
    wrong = np.zeros((FRAMES, 3), np.float32)
    pieces = [windows_of(1), wrong, windows_of(2), windows_of(3)]
    in_threads([lambda each=each: talk(scheduler.stream(), each) for each in pieces])  # type: ignore[misc]
    assert sorted(outcomes) == [-1, FRAMES, FRAMES, FRAMES]


def test_others_go_on_when_the_thread_that_computes_for_them_is_interrupted(engine: WatchedEngine) -> None:
    scheduler = Scheduler(engine)
    computing, others_wait = threading.Event(), threading.Event()
    outcomes: list[int] = []

    def interrupt() -> None:
        computing.set()
        others_wait.wait(30)
        if len(engine.sizes) == 2:
            raise KeyboardInterrupt

    def talk() -> None:
        try:
            outcomes.append(len(scheduler.stream().run(windows_of(1, 2 * 128))))
        except KeyboardInterrupt:
            outcomes.append(-1)

    engine.before = interrupt
    threads = [threading.Thread(target=talk) for _ in range(3)]
    threads[0].start()
    assert computing.wait(30)
    for thread in threads[1:]:
        thread.start()
    time.sleep(0.1)
    others_wait.set()
    for thread in threads:
        thread.join(30)
    assert sorted(outcomes) == [-1, 2 * 128, 2 * 128]


def test_others_go_on_when_a_thread_is_interrupted_whose_windows_another_computes(engine: WatchedEngine) -> None:
    scheduler = Scheduler(engine)
    lengths: list[int] = []
    computing, interrupted = threading.Event(), threading.Event()

    def interrupt() -> None:  # the main thread, once it waits for the second batch, in which its windows are
        if engine.sizes == [1]:
            computing.set()
            while not scheduler._waiting:
                time.sleep(0.01)
        elif engine.sizes == [1, 2]:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            interrupted.wait(30)

    def talk(frames: int) -> threading.Thread:
        thread = threading.Thread(target=lambda: lengths.append(len(scheduler.stream().run(windows_of(1, frames)))))
        thread.daemon = True  # in case no thread computes for it
        thread.start()
        return thread

    engine.before = interrupt
    first = talk(2 * 128)
    assert computing.wait(30)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            scheduler.stream().run(windows_of(2, 3 * 128))
    finally:
        signal.signal(signal.SIGINT, before)
    interrupted.set()
    first.join(30)
    talk(FRAMES).join(30)
    assert lengths == [2 * 128, FRAMES]


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
def test_a_fork_and_the_end_of_the_program_do_not_wait_for_threads(graph_file: Path, recordings: list[Path]) -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK, str(graph_file), str(recordings[0])]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout.strip()
