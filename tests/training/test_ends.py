"""How a run ends before its last epoch: by signals, by recordings that vanish, by disks that are full."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from corpora import TinyCorpus, write_tiny_corpus
from program import Program

from deepspeech.checkpoints.identity import read_description
from deepspeech.util.corpus import read_corpus
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.text import Alphabet

SLOW_STEPS = "--n_hidden=1200"
"""Makes a step of the tiny corpus take long enough to send signals in the middle of it."""


@pytest.fixture
def own(tmp_path: Path) -> Program:
    """Return the program over a tiny corpus whose files a test may change."""
    return Program(write_tiny_corpus(tmp_path / "corpus"), tmp_path)


def read_until(process: subprocess.Popen[str], pattern: str) -> str:
    """Return what the program says up to a line with the pattern."""
    said = ""
    assert process.stderr is not None
    for line in process.stderr:
        said += line
        if re.search(pattern, line):
            return said
    raise AssertionError(f"the program ended early: {said}")


def recordings(corpus: TinyCorpus) -> list[tuple[Path, str]]:
    """Return the training recordings in the order of training, and where they are listed."""
    features = front_end(FeatureOptions())
    read = read_corpus([corpus.train], Alphabet.load(corpus.alphabet), features, progress=False)
    return [(Path(utterance.path), utterance.source) for utterance in read]


def done_of(program: Program) -> tuple[int, int]:
    """Return the step of the newest checkpoint, and how many batches of training its state counts."""
    description = read_description(max(program.checkpoints.glob("train-*.json")).with_suffix(""))
    assert description is not None
    opened = description["state"]["open_epoch"]
    done = sum(end - start for start, end in opened["done"]) if opened and opened["set"] == "train" else 0
    return description["global_step"], 6 * description["state"]["epoch"] + done


def test_a_second_interruption_says_what_is_lost_and_ends_at_once(program: Program) -> None:
    process = program.start(*program.training(epoch=2000), SLOW_STEPS, "--checkpoint_secs=1")
    read_until(process, "Saved checkpoint train-")
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    answer = read_until(process, "interrupted").splitlines()[-1]
    assert answer == (
        "deepspeech: interrupted: finishing this step, then saving a checkpoint; press Ctrl-C again to stop at once"
    )
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert re.fullmatch(
        r"deepspeech: stopped without saving: what was trained since the checkpoint train-\d+ of \d\d:\d\d is lost",
        stderr.splitlines()[-1],
    )


def test_a_hang_up_saves_unless_it_is_ignored(program: Program) -> None:
    command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh"]
    ignoring = program.start(*program.training(epoch=2000), before=command)
    read_until(ignoring, "Training of epoch 1:")
    ignoring.send_signal(signal.SIGHUP)
    read_until(ignoring, "Training of epoch")
    ignoring.send_signal(signal.SIGTERM)
    _, stderr = ignoring.communicate(timeout=60)
    assert ignoring.returncode == 143
    assert "deepspeech: terminated: finishing this step, then saving a checkpoint\n" in stderr

    listening = program.start(*program.training(epoch=2000))
    read_until(listening, "Training of epoch")
    listening.send_signal(signal.SIGHUP)
    _, stderr = listening.communicate(timeout=60)
    assert listening.returncode == 129
    assert stderr.splitlines()[-1].startswith("deepspeech: interrupted; saved in ")


def test_a_terminal_that_is_closed_has_the_progress_saved(program: Program) -> None:
    child, terminal = os.forkpty()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-m", "deepspeech", *program.training(epoch=2000)])
    while b"Training of epoch 2" not in os.read(terminal, 1 << 16):
        pass
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 129
    step, done = done_of(program)
    assert step == done >= 6


@pytest.mark.parametrize("seconds", [0.15, 0.6, 1.6, 2.6])
def test_interrupted_before_training_it_ends_with_one_line(program: Program, seconds: float) -> None:
    process = program.start(*program.training(epoch=2000))
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    (said,) = (line for line in stderr.splitlines() if not line.startswith(("I ", "W ")))
    assert said.startswith("deepspeech: interrupted")


def test_interrupted_while_features_are_extracted_it_says_that_the_cache_begins_again(own: Program) -> None:
    cache = own.folder / "train.h5"
    own.corpus.train.write_text(own.corpus.train.read_text() + own.corpus.train.read_text().partition("\n")[2] * 800)
    process = own.start(*own.training(epoch=1), f"--train_cached_features_path={cache}")
    read_until(process, "Building feature cache")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "deepspeech: interrupted; there was nothing to save\n" in stderr
    assert f"W {cache}: the feature cache is not finished; it is built anew the next time" in stderr
    assert not list(own.folder.glob("train.h5*"))


def test_a_recording_that_vanishes_is_named_after_the_progress_is_saved(own: Program) -> None:
    process = own.start(*own.training(epoch=2000))
    read_until(process, "Training of epoch 2:")
    recording, source = recordings(own.corpus)[13]
    content = recording.read_bytes()
    recording.unlink()
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    line = stderr.splitlines()[-1]
    assert line.startswith(f"deepspeech: {recording}: No such file or directory ({source}); what was trained before")
    assert f"what was trained before is saved in {own.checkpoints}; " in line
    assert line.endswith("go on without it by --skip_bad_rows")
    step, done = done_of(own)
    assert step == done
    assert step % 6 == 3  # the batches before it

    recording.write_bytes(content)
    finished = own.run(*own.training(epoch=step // 6 + 1))
    assert finished.code == 0, finished.stderr
    assert max(int(path.stem[6:]) for path in own.checkpoints.glob("train-*.index")) == step + 3


def test_recordings_that_vanish_are_left_out_and_named_once_if_bad_rows_are_skipped(own: Program) -> None:
    flags = [*own.training(epoch=2000, validation_step=1), "--skip_bad_rows", "--noearly_stop"]
    process = own.start(*flags)
    read_until(process, "Training of epoch 2:")
    chosen = recordings(own.corpus)[4:9]  # one batch whole, and one more
    for recording, _ in chosen:
        recording.unlink()
    said = read_until(process, f"Left out: {chosen[-1][0]}")
    epoch = int(re.findall(r"of epoch (\d+)", said)[-1]) if "of epoch" in said else 2
    said += read_until(process, f"Validation of epoch {epoch + 3}:")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    said += stderr
    for recording, source in chosen:
        assert said.count(f"W Left out: {recording}: No such file or directory ({source})") == 1
    step, done = done_of(own)
    assert step < done  # a batch without utterances is done without a step


def test_utterances_left_out_of_the_test_are_not_counted(own: Program) -> None:
    assert own.run(*own.training(epoch=1)).code == 0
    wavs = sorted((own.corpus.test.parent / "wav").glob("test-*.wav"))
    tested = own.folder / "tested.json"
    process = own.start(
        *own.model(), *own.test_files(), "--skip_bad_rows", f"--test_output_file={tested}", "--test_batch_size=1"
    )
    read_until(process, "Checking")
    for wav in wavs[:2]:
        wav.unlink()
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert "(4 utterances, " in stderr
    assert tested.read_text().count('"wav_filename"') == 4
