"""The program with Kaldi's features, stacked and normalized, from training to transcripts."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import tensorflow as tf
from corpora import TinyCorpus
from program import Program, evaluate

from deepspeech import Model
from deepspeech.checkpoints.weights.fitting import initial_statistics
from deepspeech.checkpoints.weights.model_weights import weights_of_graph
from deepspeech.errors import CheckpointError
from deepspeech.network.layers.normalization import DEVIATION, MEAN
from deepspeech.serving.frozen.model import read_frozen_model
from deepspeech.util.audio import read_audio
from deepspeech.util.features import FeatureOptions
from deepspeech.util.frames.normalization import FeatureStatistics

FLAGS = ["--feature_type=fbank", "--normalize_features=global", "--stack_frames=2", "--noearly_stop"]


@pytest.fixture(scope="module")
def exported(tiny_corpus: TinyCorpus, tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, str]:
    """Return the program after it trained, tested and exported, and its log; tests must not write into its folder."""
    program = Program(tiny_corpus, tmp_path_factory.mktemp("fbank"))
    cache = program.folder / "train.h5"
    finished = program.run(
        *program.training(epoch=30, validation_step=15, train_cached_features_path=cache),
        *program.test_files(),
        *FLAGS,
        f"--export_dir={program.folder / 'model'}",
    )
    assert finished.code == 0, finished.stderr
    return program, finished.stderr


def copied(exported: tuple[Program, str], folder: Path) -> Program:
    """Return the program with a copy of the checkpoints."""
    shutil.copytree(exported[0].checkpoints, folder / "checkpoints")
    return replace(exported[0], folder=folder)


def statistics(program: Program) -> FeatureStatistics:
    """Return the statistics that the newest checkpoint holds."""
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(str(program.checkpoints)))
    return FeatureStatistics(reader.get_tensor(MEAN), reader.get_tensor(DEVIATION))


def samples_of(path: Path) -> npt.NDArray[np.int16]:
    return (read_audio(path, 16_000) * 32767).astype(np.int16)


def test_the_export_hears_what_training_heard(exported: tuple[Program, str], tmp_path: Path) -> None:
    program, log = exported
    (tested,) = re.findall(r"I (Test: loss .*)", log)
    assert float(tested.split()[2].rstrip(",")) < 12
    graph = program.folder / "model/output_graph.pb"
    again = evaluate(f"--model={graph}", f"--test_files={program.corpus.test}", "--beam_width=16")
    assert f"I {tested}" in again.stderr
    model = Model(graph)
    for wav in sorted((program.corpus.test.parent / "wav").glob("test-*.wav"))[:3]:
        samples = samples_of(wav)
        with model.stream() as stream:
            for start in range(0, len(samples), 333):
                stream.feed(samples[start : start + 333])
            streamed = stream.finish()
        whole = model.transcribe(samples)
        assert (streamed.text, streamed.words) == (whole.text, whole.words)
        assert model.stt(samples) == whole.text
        assert streamed.confidence == pytest.approx(whole.confidence, abs=1e-3)
    program = copied(exported, tmp_path)
    shot = program.run(*program.model(), *FLAGS, f"--one_shot_infer={wav}")
    assert (shot.code, shot.stdout) == (0, f"{model.transcribe(wav).text}\n"), shot.stderr


def test_the_export_says_who_can_run_it(exported: tuple[Program, str]) -> None:
    program, log = exported
    assert "clients of DeepSpeech 0.9 compute only 26 audio_ops every 20 ms" in log
    card = (program.folder / "model/model.md").read_text()
    assert "80 log-mel energies (`fbank`) of windows of 25 ms every 10 ms" in card
    assert "2 frames in one of the network's, every 20 ms" in card
    assert "normalized by the statistics of the training set (`--normalize_features=global`)" in card


def test_training_goes_on_with_the_statistics_that_it_began_with(exported: tuple[Program, str], tmp_path: Path) -> None:
    assert "Computing the statistics of features from 24 utterances" in exported[1]
    program = copied(exported, tmp_path)
    before = statistics(program)
    goes_on = program.run(*program.training(epoch=-1), *FLAGS, f"--train_files={program.corpus.dev}")
    assert goes_on.code == 0, goes_on.stderr
    assert "Resuming from checkpoint" in goes_on.stderr and "Computing the statistics" not in goes_on.stderr
    after = statistics(program)
    np.testing.assert_array_equal(after.mean, before.mean)
    np.testing.assert_array_equal(after.deviation, before.deviation)


@pytest.mark.parametrize(
    ("flag", "difference"),
    [
        ("--normalize_features=none", "--normalize_features=global, but this run has --normalize_features=none"),
        ("--stack_frames=1", "--stack_frames=2, but this run has --stack_frames=1"),
        ("--skip_frames=1", "--skip_frames=2, but this run has --skip_frames=1"),
        ("--feature_type=audio_ops", "--feature_type=fbank, but this run has --feature_type=audio_ops"),
    ],
)
def test_other_features_are_refused_by_the_name_of_their_flag(
    exported: tuple[Program, str], flag: str, difference: str
) -> None:
    program = exported[0]
    refused = program.run(*program.training(epoch=-1), *FLAGS, flag)
    assert refused.code == 1
    assert f"trained with {difference}" in refused.error


def test_another_run_begins_with_a_models_statistics(exported: tuple[Program, str], program: Program) -> None:
    graph = exported[0].folder / "model/output_graph.pb"
    begun = program.run(
        *program.training(epoch=1),
        *FLAGS,
        f"--train_files={program.corpus.dev}",
        f"--initialize_from_frozen_model={graph}",
    )
    assert begun.code == 0, begun.stderr
    assert "Computing the statistics" not in begun.stderr
    expected = read_frozen_model(graph).info.statistics
    assert expected is not None
    np.testing.assert_array_equal(statistics(program).mean, expected.mean)
    flags = [f"--checkpoint_dir={program.folder / 'new'}", f"--initialize_from_frozen_model={graph}"]
    refused = program.run(*program.training(epoch=1), *flags)
    theirs = "80 fbank every 10 ms, normalized (global), 2 stacked every 2"
    assert f"its features are {theirs}, but this run's are 26 audio_ops every 20 ms; give" in refused.error
    with pytest.raises(CheckpointError, match="but this run's are 80 fbank"):
        running = FeatureOptions(feature_type="fbank", normalization="running", stack_frames=2)
        initial_statistics(weights_of_graph(graph, "graph"), running)


def test_the_cache_keeps_what_the_front_end_makes(exported: tuple[Program, str], program: Program) -> None:
    shutil.copy(exported[0].folder / "train.h5", program.folder / "train.h5")
    flags = ["--feature_type=fbank", "--normalize_features=running", "--stack_frames=3"]
    finished = program.run(
        *program.training(epoch=1, train_cached_features_path=program.folder / "train.h5"), *flags, "--display_step=1"
    )
    assert finished.code == 0, finished.stderr
    assert "Building feature cache" not in finished.stderr
    (description,) = program.checkpoints.glob("train-*.json")
    assert json.loads(description.read_text())["features"]["normalization"] == "running"


def test_a_transcript_must_fit_into_the_frames_that_are_left(program: Program) -> None:
    refused = program.run(*program.training(epoch=1), "--feature_type=fbank", "--stack_frames=40")
    assert refused.code == 1
    assert "frames, too few for its transcript: CTC needs" in refused.stderr
