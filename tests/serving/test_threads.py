"""One model and one stream, used by several threads at once."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from deepspeech import Model
from deepspeech.decoder import CTCDecoder, DecoderOptions
from deepspeech.errors import ModelError
from deepspeech.serving.engine import Engine, Piece, State
from deepspeech.serving.layers.layer import Array


@pytest.fixture(scope="module")
def noise() -> npt.NDArray[np.int16]:
    return np.random.default_rng(3).normal(0, 2000, 32_000).astype(np.int16)


def beside(work: Callable[[], object]) -> tuple[threading.Thread, threading.Event]:
    """Start a thread that repeats `work` until the event is set."""
    done = threading.Event()

    def repeat() -> None:
        while not done.is_set():
            work()

    thread = threading.Thread(target=repeat)
    thread.start()
    return thread, done


def test_a_model_that_is_pickled_for_another_process_is_refused_with_what_to_do(model: Model) -> None:
    for of_model in (model, model.createStream(), model.stream()):
        with pytest.raises(TypeError, match=r"^a model cannot be pickled; load one in each process$"):
            pickle.dumps(of_model)


def test_one_thread_feeds_while_another_asks_for_the_text(model: Model, noise: npt.NDArray[np.int16]) -> None:
    old, new = model.createStream(), model.stream()
    asking = [beside(old.intermediateDecode), beside(lambda: new.transcript)]
    for start in range(0, len(noise), 320):
        old.feedAudioContent(noise[start : start + 320])
        new.feed(noise[start : start + 320])
    for thread, done in asking:
        done.set()
        thread.join()
    assert old.finishStream() == new.finish().text == model.stt(noise)


def test_what_was_heard_before_an_interruption_is_not_lost(
    model: Model, noise: npt.NDArray[np.int16], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_batch = Engine.run_batch

    def interrupted(engine: Engine, pieces: Sequence[Piece], cores_left: int = 0) -> list[tuple[Array, State]]:
        monkeypatch.setattr(Engine, "run_batch", run_batch)
        run_batch(engine, pieces, cores_left)
        raise KeyboardInterrupt  # as Ctrl-C does, once the native code is done

    stream, other = model.stream(), model.stream()
    for start in range(0, len(noise), 3200):
        chunk = noise[start : start + 3200]
        other.feed(chunk)
        monkeypatch.setattr(Engine, "run_batch", interrupted)
        with suppress(KeyboardInterrupt):
            stream.feed(chunk)
        monkeypatch.setattr(Engine, "run_batch", run_batch)
    monkeypatch.setattr(Engine, "run_batch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stream.finish()
    assert stream.finish() == other.finish()


def test_of_several_threads_that_finish_one_gets_the_text(model: Model) -> None:
    with ThreadPoolExecutor(4) as pool:
        for finish in (model.createStream().finishStream, model.stream().finish):
            errors = [future.exception() for future in [pool.submit(finish) for _ in range(4)]]
            assert sorted(type(error).__name__ for error in errors) == ["ModelError"] * 3 + ["NoneType"]
            assert all(isinstance(error, ModelError | None) for error in errors)


def test_threads_share_a_decoders_stream() -> None:
    decoder = CTCDecoder("abcdefgh", DecoderOptions(beam_width=64))
    frames = np.random.default_rng(0).dirichlet(np.full(9, 0.3), 600)
    stream = decoder.stream()
    thread, done = beside(stream.peek)
    for frame in frames:
        stream.feed(frame[np.newaxis])
    done.set()
    thread.join()
    assert stream.finish() == decoder.decode(frames)


def test_settings_change_while_others_decode(graph_file: Path, scorer_file: Path, noise: npt.NDArray[np.int16]) -> None:
    model = Model(graph_file)
    model.enableExternalScorer(scorer_file)
    decoding = [beside(lambda: model.stt(noise[:4000])) for _ in range(2)]
    with ThreadPoolExecutor(4) as pool:
        for width in range(10, 30):
            pool.submit(model.setBeamWidth, width)
            pool.submit(model.addHotWord, "a" * (width % 3 + 1) + " b" * width, 1.0)
            pool.submit(model.setScorerAlphaBeta, width / 10, 1.0)
    for thread, done in decoding:
        done.set()
        thread.join()
    for width in range(10, 30):
        model.eraseHotWord("a" * (width % 3 + 1) + " b" * width)
    assert 10 <= model.beamWidth() < 30 and 1 <= model.scorer_weights[0] < 3
