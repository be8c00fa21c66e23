"""A user's own network, registered only in this file, from training to serving."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from deepspeech.network import LSTM, ContextWindow, Dense, Layer, Sizes, register

if TYPE_CHECKING:  # the trainer loads this file, too, where these modules are not
    from program import Finished, Program

    from deepspeech.network.training import Pass

STEPS_OF_EPOCH = 6


@register("two_lstms")
def two_lstms(sizes: Sizes) -> tuple[Layer, ...]:
    """Return two LSTMs of different sizes, fewer neighbours, and layers with other names than DeepSpeech's."""
    return (
        ContextWindow("neighbours", frames=4),
        Dense("projection", units=40, clip=10.0, dropout=0.05),
        LSTM("first", units=sizes.n_hidden, output_dropout=0.05),
        LSTM("second", units=24),
        Dense("hidden", units=33, clip=20.0),
        Dense("labels", units=sizes.outputs),
    )


@register("other_network")
def other_network(sizes: Sizes) -> tuple[Layer, ...]:
    """Return a network whose layers depend on the size of its hidden layers."""
    return (Dense("first", sizes.n_hidden, clip=20.0), LSTM("lstm", 16), Dense("labels", units=sizes.outputs))


@register("late_context")
def late_context(sizes: Sizes) -> tuple[Layer, ...]:
    """Return a network with a context window after its first layer, which the exported format does not support."""
    return (
        Dense("projection", units=20, clip=20.0),
        ContextWindow("neighbours", frames=2),
        LSTM("lstm", units=16),
        Dense("labels", units=sizes.outputs),
    )


@dataclass(frozen=True)
class Doubled(Layer):
    """A record of a kind that cannot be computed."""

    def width(self, inputs: int) -> int:
        """Return twice the width."""
        return 2 * inputs


@dataclass(frozen=True)
class Dropped(Layer):
    """A record whose layer drops a third of its inputs."""

    def width(self, inputs: int) -> int:
        """Return the same width."""
        return inputs


@register("dropped")
def dropped(sizes: Sizes) -> tuple[Layer, ...]:
    """Return a network with a layer of its own that has dropout."""
    from deepspeech.network.layers.dropout import seeded_dropout
    from deepspeech.network.training import Activations, computed

    def drop(_: Dropped, inputs: Activations, at: Pass) -> Activations:
        return Activations(seeded_dropout(inputs.joined(at), 0.3 if at.training else 0.0, at.compute))

    computed.register(Dropped, drop)
    return (
        Dense("projection", units=20, clip=20.0),
        Dropped("dropped"),
        LSTM("lstm", units=16),
        Dense("labels", units=sizes.outputs),
    )


@register("halved")
def halved(sizes: Sizes) -> tuple[Layer, ...]:
    """Return a network with a layer that drops every second frame, which its record does not tell."""
    from deepspeech.network.training import Activations, computed

    computed.register(Dropped, lambda _, inputs, at: Activations(inputs.stacked(at)[::2]))
    return (Dropped("half"), LSTM("lstm", units=16), Dense("labels", units=sizes.outputs))


@register("turned")
def turned(sizes: Sizes) -> tuple[Layer, ...]:
    """Return a network with a layer whose frames have their utterances first, which would mix the utterances."""
    import tensorflow as tf

    from deepspeech.network.training import Activations, computed

    computed.register(Dropped, lambda _, inputs, at: Activations(tf.transpose(inputs.stacked(at), [1, 0, 2])))
    return (Dropped("turn"), Dense("labels", units=sizes.outputs))


@register("unknown_layer")
def unknown_layer(sizes: Sizes) -> tuple[Layer, ...]:
    """Return a network with a layer that cannot be computed."""
    return (Doubled("doubled"), LSTM("lstm", units=16), Dense("labels", units=sizes.outputs))


def train(program: Program, network: str, *flags: str) -> Finished:
    return program.run(*program.training(), f"--network={__file__}:{network}", "--n_hidden=40", *flags)


def test_it_trains_resumes_tests_exports_and_is_served(program: Program, recordings: list[Path]) -> None:
    import soundfile
    from graph_running import run_graph, windows_of

    from deepspeech import Model
    from deepspeech.serving.engine import Engine
    from deepspeech.serving.frozen.model import read_frozen_model

    first = train(program, "two_lstms", "--epoch=25", "--validation_step=5")
    assert first.code == 0, first.stderr
    folder = program.folder / "model"
    flags = ["--epoch=50", "--validation_step=5", "--noearly_stop", f"--export_dir={folder}", *program.test_files()]
    second = train(program, "two_lstms", *flags)
    assert second.code == 0, second.stderr
    assert f"train-{25 * STEPS_OF_EPOCH}, 25 of 50 epochs done" in second.stderr
    assert "Test: loss" in second.stderr
    card = (folder / "model.md").read_text(encoding="utf-8")
    assert "`two_lstms`" in card and "| second | LSTM | 40 | 24 | 6,240 |" in card

    graph = folder / "output_graph.pb"
    frozen = read_frozen_model(graph)
    engine, model = Engine(frozen), Model(graph)
    texts = set()
    for path in recordings:
        samples = soundfile.read(path, dtype="float32")[0]
        windows = windows_of(samples, frozen.info)
        posteriors, _ = engine.run(windows, engine.initial_state())
        np.testing.assert_allclose(posteriors, run_graph(graph, windows), atol=1e-4)
        audio = soundfile.read(path, dtype="int16")[0]
        whole = model.stt(audio)
        stream = model.createStream()
        for start in range(0, len(audio), 1000):
            stream.feedAudioContent(audio[start : start + 1000])
        assert stream.finishStream() == whole
        texts.add(whole)
    assert len(texts) > 3, "it has learned nothing"


def test_the_checkpoint_is_of_this_network_alone(program: Program) -> None:
    assert train(program, "two_lstms", "--epoch=1").code == 0
    other = program.run(*program.training(epoch=2), "--n_hidden=40")
    assert other.code == 1
    assert "trained with --network=FILE.py:two_lstms, but this run has --network=deepspeech" in other.error


def test_a_layer_that_has_changed_is_named(program: Program) -> None:
    assert train(program, "other_network", "--epoch=1").code == 0
    changed = program.run(*program.training(epoch=2), f"--network={__file__}:other_network", "--n_hidden=41")
    assert changed.code == 1
    assert "trained with --n_hidden=40, but this run has --n_hidden=41" in changed.error
    description = next(program.checkpoints.glob("train-*.json"))
    description.write_text(description.read_text().replace('"units": 40', '"units": 39'))
    edited = train(program, "other_network", "--epoch=2")
    assert edited.code == 1
    assert "Dense(name=first, units=39, clip=20.0) where this run has Dense(name=first, units=40" in edited.error


@pytest.mark.parametrize(
    ("network", "words"),
    [("late_context", "neighbours is a context window after other layers"), ("unknown_layer", "doubled is a Doubled")],
)
def test_a_network_that_the_exported_format_cannot_say_is_refused_before_training(
    program: Program, network: str, words: str
) -> None:
    finished = train(program, network, "--epoch=1", f"--export_dir={program.folder / 'model'}")
    assert finished.code == 1
    assert f"network {network} cannot be exported as a graph: its layer {words}" in finished.error
    assert not program.checkpoints.exists() and not (program.folder / "model").exists()


def test_a_network_that_cannot_be_exported_trains_all_the_same(program: Program) -> None:
    finished = train(program, "late_context", "--epoch=1", *program.test_files())
    assert finished.code == 0, finished.stderr
    refused = train(program, "unknown_layer", "--epoch=1", f"--checkpoint_dir={program.folder / 'other'}")
    assert refused.code == 1
    assert "layer doubled: there is no way to compute a Doubled in training" in refused.error


@pytest.mark.parametrize(("network", "layer"), [("halved", "half"), ("turned", "turn")])
def test_a_layer_with_other_frames_than_promised_is_named_in_the_step_that_fails(
    program: Program, network: str, layer: str
) -> None:
    finished = train(program, network, "--epoch=1")
    assert finished.code == 1
    assert f"layer {layer}: its function returns another [time, batch] than its record promises" in finished.error


def test_dropout_of_a_layer_of_its_own_goes_on_as_if_training_had_not_been_stopped(program: Program) -> None:
    def losses(*epochs: int) -> list[str]:
        folder = program.folder / f"in {len(epochs)} runs"
        threads = "--intra_op_parallelism_threads=1"
        runs = [train(program, "dropped", f"--epoch={each}", f"--checkpoint_dir={folder}", threads) for each in epochs]
        assert [run.code for run in runs] == [0] * len(epochs), runs[-1].stderr
        return re.findall(r"Training of epoch \d: loss [\d.]+", "".join(run.stderr for run in runs))

    assert losses(1, 3) == losses(3)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("transformer", "there is no such network"),
        ("missing.py:net", "there is no file missing.py"),
        (".:net", "is not a Python file"),
        (f"{__file__}:x", "x"),
    ],
)
def test_an_unknown_network_is_one_line(program: Program, name: str, words: str) -> None:
    finished = program.run(*program.training(epoch=1), f"--network={name}")
    assert finished.code == 1
    assert "--network=" in finished.error and words in finished.error
