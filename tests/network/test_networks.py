"""The networks `lstm`, `conformer` and `convolutional`, from training to serving, with the program's commands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
import tensorflow as tf
from program import Finished, Program

from deepspeech import Model
from deepspeech.errors import ModelError

LSTM = ("--network=lstm", "--n_hidden=32", "--lstm_layers=2", "--convolution_channels=8", "--dropout_rate=0.1")
CONFORMER = (
    *("--network=conformer", "--n_hidden=32", "--conformer_layers=2", "--convolution_channels=8"),
    *("--attention_chunk=8", "--convolution_kernel=5", "--dropout_rate=0.1"),
)

CONVOLUTIONAL = (
    *("--network=convolutional", "--n_hidden=32", "--convolutional_layers=2", "--convolution_channels=8"),
    *("--convolution_kernel=6", "--dropout_rate=0.1"),
)


def train(program: Program, *flags: str) -> Finished:
    finished = program.run(*program.training(validation_step=5), "--noearly_stop", *flags)
    assert finished.code == 0, finished.stderr
    return finished


def weights_of(program: Program, step: int) -> dict[str, object]:
    reader = tf.train.load_checkpoint(str(program.checkpoints / f"train-{step}"))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def check_streams(folder: Path, recordings: list[Path]) -> None:
    """Check that a model distinguishes recordings, and that streams give the same transcripts as whole recordings."""
    model, texts, ends = Model(folder / "output_graph.pb"), set(), []
    assert model.step_seconds == 0.04
    for path in recordings:
        audio = soundfile.read(path, dtype="int16")[0]
        whole = model.transcribe(audio)
        with model.stream() as stream:
            for start in range(0, len(audio), 700):
                stream.feed(audio[start : start + 700])
            streamed = stream.finish()
        assert (streamed.text, streamed.words) == (whole.text, whole.words)
        assert streamed.confidence == pytest.approx(whole.confidence, abs=1e-3)
        assert whole.words[-1].end <= len(audio) / 16_000 + 0.05
        ends.append(whole.words[-1].end / (len(audio) / 16_000))
        texts.add(whole.text)
    assert len(texts) > 3, "it has learned nothing"
    assert sorted(ends)[1] > 0.5, "words end long before their recordings, in more than one of them"


def test_it_trains_goes_on_exactly_tests_exports_and_streams(program: Program, recordings: list[Path]) -> None:
    other = Program(program.corpus, program.folder / "other")
    other.folder.mkdir()
    train(other, *LSTM, "--epoch=4")
    train(program, *LSTM, "--epoch=2")
    folder = program.folder / "model"
    train(program, *LSTM, "--epoch=4")
    in_one_go, in_two = weights_of(other, 24), weights_of(program, 24)
    for name, values in in_one_go.items():
        np.testing.assert_array_equal(in_two[name], values, err_msg=name)

    finished = train(program, *LSTM, "--epoch=20", f"--export_dir={folder}", *program.test_files())
    assert "is for this program and TensorFlow: clients of DeepSpeech 0.9 lack" in finished.stderr
    assert float(finished.stderr.partition("Test: loss ")[2].partition(",")[0]) < 3
    card = (folder / "model.md").read_text(encoding="utf-8")
    assert "- an output every 40 ms\n- streams, with a look-ahead of 60 ms" in card
    assert "| convolution_2 | Convolution | 104 | 56 | 584 |" in card

    check_streams(folder, recordings)
    changed = program.run(*program.training(epoch=21), *LSTM, "--lstm_layers=3")
    assert changed.code == 1
    assert "trained with --lstm_layers=2, but this run has --lstm_layers=3" in changed.error
    deeper = program.run(*program.training(epoch=21), *LSTM, "--convolutions=4")
    assert deeper.code == 1
    assert "trained with --convolutions=2, but this run has --convolutions=4" in deeper.error


def test_one_that_is_bidirectional_in_chunks_trains_and_streams(program: Program, recordings: list[Path]) -> None:
    folder = program.folder / "model"
    flags = ("--convolutions=4", "--lstm_chunk=4", "--lstm_chunk_offset=2", "--epoch=15", f"--export_dir={folder}")
    finished = train(program, *LSTM, *flags, *program.test_files())
    assert float(finished.stderr.partition("Test: loss ")[2].partition(",")[0]) < 4
    card = (folder / "model.md").read_text(encoding="utf-8")
    assert "- streams, with a look-ahead of 320 ms" in card
    assert "| convolution_4 | Convolution | 112 | 112 |" in card
    check_streams(folder, recordings)


def test_a_bidirectional_one_with_inner_losses_is_served_whole(program: Program, recordings: list[Path]) -> None:
    flags = ("--bidirectional", "--lstm_projection=24", "--intermediate_ctc_weight=0.3")
    folder = program.folder / "model"
    finished = train(program, *LSTM, *flags, "--epoch=15", f"--export_dir={folder}", *program.test_files())
    assert float(finished.stderr.partition("Test: loss ")[2].partition(",")[0]) < 4
    assert "needs the whole recording: it does not stream" in (folder / "model.md").read_text(encoding="utf-8")
    model = Model(folder / "output_graph.pb")
    assert model.transcribe(recordings[0]).text
    with pytest.raises(ModelError, match="cannot stream, as its layer lstm_1 is a BidirectionalLSTM"):
        model.stream()


def test_a_conformer_trains_and_streams(program: Program, recordings: list[Path]) -> None:
    folder = program.folder / "model"
    finished = train(program, *CONFORMER, "--epoch=30", f"--export_dir={folder}", *program.test_files())
    assert float(finished.stderr.partition("Test: loss ")[2].partition(",")[0]) < 4
    card = (folder / "model.md").read_text(encoding="utf-8")
    assert "- streams, with a look-ahead of 340 ms" in card
    check_streams(folder, recordings)


def test_a_convolutional_one_trains_and_streams(program: Program, recordings: list[Path]) -> None:
    folder = program.folder / "model"
    flags = ("--intermediate_ctc_weight=0.3", "--epoch=15", f"--export_dir={folder}", *program.test_files())
    finished = train(program, *CONVOLUTIONAL, *flags)
    assert float(finished.stderr.partition("Test: loss ")[2].partition(",")[0]) < 4
    card = (folder / "model.md").read_text(encoding="utf-8")
    assert "- streams, with a look-ahead of 300 ms" in card
    check_streams(folder, recordings)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--output_step=30"], "--output_step=30: must be a multiple of the 20 ms"),
        (
            ["--intermediate_ctc_weight=0.3", "--intermediate_ctc_layers=4"],
            "--intermediate_ctc_layers=4: must be numbers from 1 to 3",
        ),
        (
            ["--lstm_chunk=4", "--lstm_chunk_offset=4"],
            "--lstm_chunk_offset=4: must be less than --lstm_chunk, which is 4",
        ),
        (["--lstm_chunk_offset=4"], "--lstm_chunk_offset=4: must be less than --lstm_chunk, which is 0"),
        (
            ["--network=conformer", "--n_hidden=12", "--attention_heads=4"],
            "--attention_heads=4: cannot share --n_hidden=12 in pairs of numbers; give a multiple of 8 as --n_hidden",
        ),
        (
            ["--lstm_layers=2", "--intermediate_ctc_weight=0.3", "--intermediate_ctc_layers=2"],
            "--intermediate_ctc_layers=2: must be 1, the number of the layer before the last",
        ),
        (
            ["--lstm_layers=1", "--intermediate_ctc_weight=0.3", "--intermediate_ctc_layers=1"],
            "--intermediate_ctc_layers=1: must be left out for one layer",
        ),
        (["--output_step=400"], "outputs of 20 frames, too few for its transcript: CTC needs"),
    ],
)
def test_settings_that_do_not_fit_are_one_line(program: Program, flags: list[str], words: str) -> None:
    finished = program.run(*program.training(epoch=1), "--network=lstm", *flags)
    assert finished.code == 1
    assert words in finished.stderr
    assert not program.checkpoints.exists()
