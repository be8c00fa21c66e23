import json
import os
import re
import signal
import time
import urllib.request
from pathlib import Path
from shutil import copy
from typing import Any

import numpy as np
import pytest
import soundfile
import soxr
import tensorflow as tf
from program import Program, Trained

from benchmarks.processes.ports import free_ports
from deepspeech.checkpoints.identity import read_description


def transcript_of(csv_file: Path, row: int) -> tuple[Path, str]:
    name, _, transcript = csv_file.read_text().splitlines()[1 + row].split(",")
    return csv_file.parent / name, transcript


def epoch_losses(stderr: str, title: str = "Training of epoch") -> list[float]:
    return [float(loss) for loss in re.findall(rf"{title} \d+: loss ([\d.]+)", stderr)]


def steps_of(folder: Path) -> list[int]:
    return sorted(int(path.stem.split("-")[1]) for path in folder.glob("train-*.index"))


def test_a_model_learns_its_corpus(trained: Trained) -> None:
    losses = epoch_losses(trained.finished.stderr)
    assert len(losses) == 80
    assert losses[-1] < losses[0] / 20
    cer = float(re.search(r"Test: .*CER ([\d.]+)%", trained.finished.stderr).group(1))  # type: ignore[union-attr]
    assert cer <= 40


def test_the_wer_line_has_the_asked_form_and_nothing_else_is_on_stdout(trained: Trained) -> None:
    lines = trained.finished.stdout.splitlines()
    assert [line.split()[1] for line in lines] == ["train", "dev", "train", "dev", "test"]
    assert all(re.fullmatch(r"LOG \w+ \d{4}-\d\d-\d\dT\S+ \d+\.\d+", line) for line in lines)


def test_it_says_that_it_tests_with_the_best_checkpoint(trained: Trained) -> None:
    assert re.search(r"Testing with the checkpoint of lowest validation loss, .*best_dev-\d+", trained.finished.stderr)


def test_the_best_checkpoint_is_that_of_the_lowest_validation_loss(trained: Trained) -> None:
    (best,) = trained.program.checkpoints.glob("best_dev-*.index")
    description = read_description(best.with_suffix(""))
    assert description is not None
    losses = epoch_losses(trained.finished.stderr, "Validation of epoch")
    assert description["state"]["dev_losses"][-1] == pytest.approx(min(losses), abs=1e-3)


def summaries(folder: Path) -> dict[str, list[Any]]:
    """Return the values of every tag that TensorBoard reads."""
    (events,) = folder.glob("events*")
    tags: dict[str, list[Any]] = {}
    for event in tf.compat.v1.train.summary_iterator(str(events)):
        for value in event.summary.value:
            is_number = value.WhichOneof("value") == "simple_value"
            tags.setdefault(value.tag, []).append(value.simple_value if is_number else value)
    return tags


def test_summaries_tell_losses_and_error_rates(trained: Trained) -> None:
    tags = summaries(trained.program.folder / "summaries")
    assert len(tags["train/loss"]) == 80
    assert len(tags["dev/loss"]) == 8
    assert len(tags["train/wer"]) == 2
    assert tags["step_loss"]
    assert 0 <= tags["test/cer"][0] <= 0.4
    assert tags["test/wer"][0] >= tags["test/cer"][0]


def test_summaries_tell_the_pace_and_the_gradient_of_steps(trained: Trained) -> None:
    tags = summaries(trained.program.folder / "summaries")
    of_steps = ["step_loss", "learning_rate", "gradient_norm", "utterances_per_second", "audio_seconds_per_second"]
    assert len({len(tags[name]) for name in of_steps}) == 1
    assert tags["learning_rate"] == pytest.approx([0.003] * len(tags["step_loss"]))
    assert all(norm > 0 for norm in tags["gradient_norm"])
    seconds = [
        heard / done
        for heard, done in zip(tags["audio_seconds_per_second"], tags["utterances_per_second"], strict=True)
    ]
    assert all(0.2 < of_one < 3 for of_one in seconds)  # an utterance's audio


def test_summaries_show_what_was_said_and_heard(trained: Trained) -> None:
    (shown,) = summaries(trained.program.folder / "summaries")["test/samples"]
    assert shown.metadata.plugin_data.plugin_name == "text"
    head, *rows = tf.make_ndarray(shown.tensor).tolist()
    assert head == [b"recording", b"WER", b"loss", b"said", b"heard"]
    reported = re.findall(r"said:  '(.*)'\n.*heard: '(.*)'", trained.finished.stderr.partition("I Test: loss")[2])
    assert [(said.decode().strip("`"), heard.decode().strip("`")) for *_, said, heard in rows] == reported


def test_summaries_show_features_and_spectrograms_of_the_training_set(trained: Trained) -> None:
    tags = summaries(trained.program.folder / "summaries")
    images = {name: values for name, values in tags.items() if name.startswith(("train/features", "train/spectrogram"))}
    assert len(images) == 6
    for name, (value,) in images.items():
        pixels = tf.io.decode_png(value.image.encoded_image_string).numpy()
        assert pixels.shape == (value.image.height, value.image.width, 1)
        assert (pixels.min(), pixels.max()) == (0, 255)
        assert value.image.height == (257 if "spectrogram" in name else 4 * 26)


def test_full_traces_time_the_operations_of_a_step(trained: Trained) -> None:
    (events,) = (trained.program.folder / "summaries").glob("events*")
    traces = [
        event.tagged_run_metadata.run_metadata
        for event in tf.compat.v1.train.summary_iterator(str(events))
        if event.HasField("tagged_run_metadata")
    ]
    timed = tf.compat.v1.RunMetadata.FromString(traces[0])
    assert any("layer_1" in node.node_name for device in timed.step_stats.dev_stats for node in device.node_stats)


def test_one_shot_inference_prints_the_text_alone(trained: Trained) -> None:
    wav, transcript = transcript_of(trained.program.corpus.train, 3)
    finished = trained.program.run(*trained.program.model(), f"--one_shot_infer={wav}")
    assert finished.code == 0
    assert finished.stdout == transcript + "\n"
    assert "best_dev-" in finished.stderr


def test_one_shot_inference_takes_other_rates_channels_and_formats(trained: Trained, tmp_path: Path) -> None:
    wav, transcript = transcript_of(trained.program.corpus.train, 3)
    samples, rate = soundfile.read(wav)
    stereo = np.stack([soxr.resample(samples, rate, 44_100)] * 2, axis=1)
    soundfile.write(tmp_path / "stereo.flac", stereo, 44_100)
    finished = trained.program.run(*trained.program.model(), f"--one_shot_infer={tmp_path / 'stereo.flac'}")
    assert finished.stdout == transcript + "\n"


def test_testing_alone_gives_the_same_figures(trained: Trained) -> None:
    program = trained.program
    finished = program.run(*program.model(), *program.test_files())
    assert finished.code == 0
    pattern = r"Test: loss .*"
    assert re.search(pattern, finished.stderr).group() == re.search(pattern, trained.finished.stderr).group()  # type: ignore[union-attr]


def test_a_finished_run_trains_no_further(trained: Trained) -> None:
    program = trained.program
    finished = program.run(*program.training(epoch=80, validation_step=10), "--noearly_stop")
    assert finished.code == 0
    assert epoch_losses(finished.stderr) == []


def test_features_from_a_cache_train_the_same_model(program: Program) -> None:
    def losses(name: str, *flags: str) -> list[float]:
        folder = program.folder / name
        folder.mkdir()
        mine = Program(program.corpus, folder)
        return epoch_losses(mine.run(*mine.training(epoch=2), *flags).stderr)

    plain = losses("plain")
    cached = losses("cached", f"--train_cached_features_path={program.folder / 'train.h5'}")
    assert len(plain) == 2
    assert cached == plain  # and so a seed decides the whole run
    assert (program.folder / "train.h5").is_file()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_first_and_the_same_command_goes_on_in_the_middle_of_the_epoch(
    program: Program, sent: signal.Signals
) -> None:
    arguments = program.training(epoch=2000, iters_per_worker=4)
    process = program.start(*arguments)
    wait_for_epoch(process, 2)
    process.send_signal(sent)
    _, stderr = process.communicate(timeout=600)
    assert process.returncode == 128 + sent
    assert "run the same command again to resume" in stderr.splitlines()[-1]

    (step,) = steps_of(program.checkpoints)
    description = read_description(program.checkpoints / f"train-{step}")
    assert description is not None
    state = description["state"]
    done = sum(end - start for start, end in state["open_epoch"]["done"]) if state["open_epoch"] else 0
    assert step == 6 * state["epoch"] + done

    finished = program.run(*program.training(epoch=state["epoch"] + 1, iters_per_worker=4))
    assert finished.code == 0
    assert f"Resuming from checkpoint {program.checkpoints / f'train-{step}'}" in finished.stderr
    assert steps_of(program.checkpoints)[-1] == 6 * (state["epoch"] + 1)
    counted = f"{4 * (6 - done)} utterances in [\\d.]+ s(, [\\d.]+ utterances/s)?"
    earlier = f", after {4 * done} before an interruption" if done else ""
    assert re.search(f"Training of epoch {state['epoch'] + 1}: loss [\\d.]+, {counted}{earlier}\n", finished.stderr)


def test_killed_at_any_moment_the_same_command_goes_on_from_the_last_checkpoint(program: Program) -> None:
    arguments = [*program.training(epoch=2000, checkpoint_secs=1, validation_step=3), "--noearly_stop"]
    for delay in (0.5, 1.1):
        process = program.start(*arguments)
        wait_for_epoch(process, 1)
        wait_for_epoch(process, 1, "Saved checkpoint")  # a slow machine needs more than the delay for that
        time.sleep(delay)
        process.kill()
        process.communicate()
    description = read_description(program.checkpoints / f"train-{steps_of(program.checkpoints)[-1]}")
    assert description is not None
    state = description["state"]
    done = 0
    if state["open_epoch"] and state["open_epoch"]["set"] == "train":
        done = sum(end - start for start, end in state["open_epoch"]["done"])
    assert description["global_step"] == 6 * state["epoch"] + done > 6
    assert len(state["dev_losses"]) >= state["epoch"] // 3 - 1


def test_a_second_run_in_the_same_folder_ends_with_one_line_and_the_first_goes_on(program: Program) -> None:
    (port,) = free_ports(1)
    first = program.start(*program.training(epoch=2000), f"--status_port={port}")
    wait_for_epoch(first, 1)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/status", timeout=60) as answer:
        status = json.load(answer)
    assert (status["phase"], status["epochs"]) == ("training", 2000)
    assert status["epochs_done"] >= len(status["losses"]["train"]) >= 1
    before = {path.name for path in program.checkpoints.rglob("*")}
    link = program.folder / "link"
    link.symlink_to(program.checkpoints)
    chief = ("--ps_hosts=localhost:1", "--worker_hosts=localhost:2", "--job_name=worker")
    for name, flags in ((program.checkpoints, ()), (link, ()), ("checkpoints", ()), (program.checkpoints, chief)):
        arguments = program.training(epoch=3, checkpoint_dir=name, train_cached_features_path="train.h5")
        second = program.run(*arguments, *flags)
        assert second.code == 1
        assert f"--checkpoint_dir={name}: process {first.pid} on " in second.error
        assert "is training into it; wait for its end, or name another folder" in second.error
    assert {path.name for path in program.checkpoints.rglob("*")} == before
    assert not (program.folder / "train.h5").exists()
    assert first.poll() is None
    first.kill()
    first.communicate()
    assert program.run(*program.training(epoch=1)).code == 0


def test_a_better_best_checkpoint_is_never_replaced_where_its_index_file_is_lost(program: Program) -> None:
    flags = program.training(epoch=4, validation_step=1)
    assert program.run(*flags, "--noearly_stop").code == 0
    (best,) = program.checkpoints.glob("best_dev-*.json")
    for path in (*program.checkpoints.glob("train-*"), *program.checkpoints.glob("*checkpoint")):
        path.unlink()
    finished = program.run(*program.training(epoch=5, validation_step=1, learning_rate=1), "--noearly_stop")
    assert finished.code == 0
    assert f"Resuming from checkpoint {best.with_suffix('')}" in finished.stderr
    assert [path.name for path in program.checkpoints.glob("best_dev-*.json")] == [best.name]


def test_a_loss_that_is_not_finite_names_the_utterances_and_saves_nothing(program: Program) -> None:
    finished = program.run(*program.training(epoch=3, learning_rate=1e30))
    assert finished.code == 1
    assert "not finite" in finished.error
    assert re.search(r"train-\d+\.wav \(.*train\.csv:\d+\)", finished.error)
    assert not program.checkpoints.exists() or not steps_of(program.checkpoints)


def test_patience_begins_when_the_output_is_more_than_blanks_or_one_letter(program: Program) -> None:
    flags = program.training(epoch=40, validation_step=1, es_epochs=1, es_min_delta=0.9)
    finished = program.run(*flags)
    assert "training stops early" in finished.stderr
    newest = program.checkpoints / f"train-{steps_of(program.checkpoints)[-1]}"
    state = (read_description(newest) or {})["state"]
    assert state["stopped_early"]
    assert state["epoch"] > 2
    assert 2 <= state["varied_validations"] < state["epoch"]


def test_early_stopping_ends_training_and_says_so(program: Program) -> None:
    flags = program.training(epoch=50, validation_step=1, earlystop_nsteps=2, estop_mean_thresh=1e6, estop_std_thresh=1)
    finished = program.run(*flags)
    assert "training stops early, after epoch 2" in finished.stderr
    assert len(epoch_losses(finished.stderr)) == 2


def wait_for_epoch(process: Any, count: int, said: str = "Training of epoch") -> None:
    """Wait until the program has printed this number of lines with `said`, by default reports of training epochs."""
    lines = []
    for line in process.stderr:
        lines.append(line)
        count -= said in line
        if count <= 0:
            return
    raise AssertionError("the program ended early: " + "".join(lines))


def test_recordings_whose_names_are_not_utf_8_are_trained_and_tested_on(program: Program, tmp_path: Path) -> None:
    name, rows = os.fsdecode(b"caf\xe9.wav"), tmp_path / "rows.jsonl"
    copy(program.corpus.train.parent / "wav/train-0.wav", tmp_path / name)
    rows.write_text(json.dumps({"audio_filepath": name, "text": "ab"}))
    finished = program.run(*program.training(epoch=1, train_files=rows, test_files=rows, summary_secs=1))
    assert finished.code == 0, finished.stderr
    assert "caf\\udce9.wav" in finished.stderr
