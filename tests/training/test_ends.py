"""Runs that end before their last epoch: by signals, missing recordings or full disks."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from corpora import TinyCorpus, write_tiny_corpus
from fork_server import ForkedProcess
from program import Program

from deepspeech.checkpoints.identity import read_description
from deepspeech.training.interruption import InterruptionWatch, PlainEnding
from deepspeech.util.corpus import read_corpus
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.text import Alphabet

SLOW_STEPS = "--n_hidden=1200"
"""Makes a step of the tiny corpus long enough to send signals in the middle of it."""

PATIENCE = 120
"""Seconds for a run to end on a busy machine."""

ENDING = PlainEnding("finishing", "stopped")


@pytest.fixture
def own(tmp_path: Path) -> Program:
    """Return the program with a tiny corpus; a test may change its files during the seconds of imports."""
    return Program(write_tiny_corpus(tmp_path / "corpus"), tmp_path, forked=False)


def read_until(process: ForkedProcess | subprocess.Popen[str], pattern: str) -> str:
    """Return the program's output up to a line with the pattern."""
    said = ""
    assert process.stderr is not None
    for line in process.stderr:
        said += line
        if re.search(pattern, line):
            return said
    raise AssertionError(f"the program ended early: {said}")


def recordings(corpus: TinyCorpus) -> list[tuple[Path, str]]:
    """Return the training recordings in the order of training, and their places in the list."""
    features = front_end(FeatureOptions())
    read = read_corpus([corpus.train], Alphabet.load(corpus.alphabet), features, progress=False)
    return [(Path(utterance.path), utterance.source) for utterance in read]


def done_of(program: Program) -> tuple[int, int]:
    """Return the step of the newest checkpoint, and the number of training batches in its state."""
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
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert re.fullmatch(
        r"deepspeech: stopped without saving: what was trained since the checkpoint train-\d+ of \d\d:\d\d is lost",
        stderr.splitlines()[-1],
    )


def test_what_is_lost_is_counted_from_the_best_checkpoint_where_that_is_the_newest(program: Program) -> None:
    process = program.start(*program.training(epoch=2000, validation_step=1), SLOW_STEPS, "--checkpoint_secs=1000")
    saved = re.findall(r"saved as (\S+)", read_until(process, "Best validation loss so far"))[-1]
    process.send_signal(signal.SIGINT)
    read_until(process, "interrupted")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert re.fullmatch(
        rf"deepspeech: stopped without saving: what was trained since the checkpoint {saved} of \d\d:\d\d is lost",
        stderr.splitlines()[-1],
    )
    again = program.start(*program.training(epoch=2000, validation_step=1), SLOW_STEPS)
    read_until(again, f"Resuming from checkpoint .*/{saved},")
    again.kill()


def test_a_hang_up_that_is_ignored_ends_nothing(program: Program) -> None:
    command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh"]
    ignoring = program.start(*program.training(epoch=2000), before=command)
    read_until(ignoring, "Training of epoch 1:")
    ignoring.send_signal(signal.SIGHUP)
    read_until(ignoring, "Training of epoch")
    ignoring.send_signal(signal.SIGTERM)
    _, stderr = ignoring.communicate(timeout=PATIENCE)
    assert ignoring.returncode == 143
    assert "deepspeech: terminated: finishing this step, then saving a checkpoint\n" in stderr


def test_a_terminal_that_is_closed_has_the_progress_saved(program: Program) -> None:
    child, terminal = os.forkpty()
    if child == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run below nohup
        os.execv(sys.executable, [sys.executable, "-m", "deepspeech", *program.training(epoch=2000)])
    said = b""
    while b"Training of epoch 2:" not in said:
        said += os.read(terminal, 1 << 16)
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 129
    step, done = done_of(program)
    assert step == done >= 6


def test_interrupted_while_modules_are_imported_it_ends_with_one_line(program: Program) -> None:
    traced = [sys.executable, "-X", "importtime", "-m", "deepspeech"]
    process = subprocess.Popen(traced, stderr=subprocess.PIPE, text=True)
    read_until(process, r"numpy\.exceptions")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert [line for line in stderr.splitlines() if not line.startswith("import time:")] == ["deepspeech: interrupted"]

    started = replace(program, forked=False).start(*program.training(epoch=2000))
    read_until(started, r"Checking .*train\.csv")
    time.sleep(0.5)  # in the middle of TensorFlow
    started.send_signal(signal.SIGTERM)
    _, stderr = started.communicate(timeout=PATIENCE)
    assert started.returncode == 143
    assert stderr == "deepspeech: interrupted; there was nothing to save\n"


def test_interrupted_while_features_are_extracted_it_says_that_the_cache_begins_again(own: Program) -> None:
    cache = own.folder / "train.h5"
    own.corpus.train.write_text(own.corpus.train.read_text() + own.corpus.train.read_text().partition("\n")[2] * 200)
    process = replace(own, forked=True).start(*own.training(epoch=1), f"--train_cached_features_path={cache}")
    read_until(process, "Building feature cache")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "deepspeech: interrupted; there was nothing to save\n" in stderr
    assert f"W {cache}: the feature cache is not finished; it is built anew the next time" in stderr
    assert not list(own.folder.glob("train.h5*"))


def test_no_feature_cache_is_built_of_a_set_of_which_nothing_is_left_to_train(program: Program) -> None:
    flags = [*program.training(epoch=1), *program.test_files(), "--n_hidden=16"]
    assert program.run(*flags).code == 0
    caches = [f"--{name}_cached_features_path={program.folder / name}.h5" for name in ("train", "dev", "test")]
    finished = program.run(*flags, *caches)
    assert finished.code == 0
    assert "Nothing is left to train" in finished.stderr
    assert [path.name for path in program.folder.glob("*.h5")] == ["test.h5"]


def test_a_recording_that_vanishes_is_named_after_the_progress_is_saved(own: Program) -> None:
    own = replace(own, forked=True)
    process = own.start(*own.training(epoch=2000))
    read_until(process, "Training of epoch 2:")
    recording, source = recordings(own.corpus)[13]
    content = recording.read_bytes()
    recording.unlink()
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    line = stderr.splitlines()[-1]
    assert line.startswith(f"deepspeech: {recording}: No such file or directory ({source}); what was trained before")
    assert f"what was trained before is saved in {own.checkpoints}; " in line
    assert line.endswith("continue without it with --skip_bad_rows")
    step, done = done_of(own)
    assert step == done
    assert step % 6 == 3  # the batches before it

    recording.write_bytes(content)
    finished = own.run(*own.training(epoch=step // 6 + 1))
    assert finished.code == 0, finished.stderr
    assert max(int(path.stem[6:]) for path in own.checkpoints.glob("train-*.index")) == step + 3


def test_utterances_that_vanish_are_left_out_named_once_and_not_counted_if_bad_rows_are_skipped(own: Program) -> None:
    output = own.folder / "tested.json"
    flags = [*own.training(epoch=3, validation_step=1), *own.test_files(), f"--test_output_file={output}"]
    process = own.start(*flags, "--skip_bad_rows")
    said = read_until(process, "Checking .*test.csv")
    gone = recordings(own.corpus)[4:9]  # one batch whole, and one of the next
    tested = sorted((own.corpus.test.parent / "wav").glob("test-*.wav"))[:2]
    for path in (*(path for path, _ in gone), *tested):
        path.unlink()
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, stderr
    said += stderr
    for path, source in gone:
        assert said.count(f"W Left out: {path}: No such file or directory ({source})") == 1
    assert done_of(own) == (15, 18)  # a batch without utterances is done without a step
    assert "(4 utterances, " in said
    heard = [each["wav_filename"] for each in json.loads(output.read_text())]
    assert len(heard) == 4
    assert not {str(path) for path in tested} & set(heard)


FETCHING = """
import os, signal, sys
from deepspeech.cli import train
train.with_local_copies = lambda *_: os.kill(os.getpid(), signal.SIGTERM)
sys.exit(train.main(sys.argv[1:]))
"""


def test_a_signal_that_comes_while_files_are_fetched_is_told_once_and_in_the_exit_code(program: Program) -> None:
    command = [sys.executable, "-c", FETCHING, *program.training()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr == "deepspeech: interrupted; there was nothing to save\n"


def test_a_signal_that_comes_when_nothing_is_left_to_do_ends_the_block_as_interrupted() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(KeyboardInterrupt, match="nothing is lost") as raised, InterruptionWatch(ENDING) as watch:
        assert watch.signal_number is None
        os.kill(os.getpid(), signal.SIGTERM)
    assert raised.value.signal_number == watch.signal_number == signal.SIGTERM  # type: ignore[attr-defined]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    descriptor = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(descriptor)
    assert descriptor == -1
    assert "answers to signals" not in [thread.name for thread in threading.enumerate()]


def test_an_error_of_the_block_is_raised_though_a_signal_came() -> None:
    with pytest.raises(ValueError, match="of the block"), InterruptionWatch(ENDING):
        os.kill(os.getpid(), signal.SIGTERM)
        raise ValueError("of the block")


def test_signals_are_answered_by_what_the_ending_is_when_they_come(capfd: pytest.CaptureFixture[str]) -> None:
    called, numbers = threading.Event(), []

    def note(number: int) -> None:
        numbers.append((number, threading.current_thread() is threading.main_thread()))
        called.set()

    with pytest.raises(KeyboardInterrupt), InterruptionWatch(ENDING) as watch:
        watch.ending, watch.when_signalled = PlainEnding("saving", "lost"), note
        for number in (signal.SIGTERM, signal.SIGINT):
            called.clear()
            os.kill(os.getpid(), number)
            assert called.wait(PATIENCE)
    assert numbers == [(signal.SIGTERM, False), (signal.SIGINT, False)]
    terminated, interrupted = capfd.readouterr().err.splitlines()
    assert terminated.endswith("terminated: saving")
    assert interrupted.endswith("interrupted: saving; press Ctrl-C again to stop at once")


def test_a_second_interruption_ends_the_process_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    child = os.fork()
    if child == 0:
        try:
            with InterruptionWatch(ENDING) as watch:
                called = threading.Semaphore(0)
                watch.when_signalled = lambda _: called.release()
                for _ in range(2):
                    os.kill(os.getpid(), signal.SIGINT)
                    called.acquire(timeout=PATIENCE)
                time.sleep(PATIENCE)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 128 + signal.SIGINT
    assert capfd.readouterr().err.endswith("stopped\n")
