"""Every benchmark starts in the one way that the documentation tells: `python -m benchmarks.NAME` from the root."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.accuracy import ablation
from benchmarks.inference import write_graph
from benchmarks.processes.commands import run_quietly
from benchmarks.server import Server

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "accuracy.ablation",
    "alignment",
    "cluster",
    "coordinator",
    "decoder",
    "features",
    "importing",
    "inference",
    "memory",
    "peer_conformer",
    "processes.speech_graph",
    "server",
    "serving.onnx_runtime",
    "simulation",
    "simulation.measured_run",
    "simulation.network",
    "step_profile",
    "train_epoch",
)


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_measures(name: str) -> None:
    done = run(name, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")


def test_what_aligns_the_demo_says_where_it_comes_from() -> None:
    done = run("alignment", "--demo=nowhere")
    assert done.returncode == 1
    assert done.stderr == "--demo=nowhere: holds no demo; `make demo` makes it, in the folder demo\n"


def test_a_training_step_is_measured() -> None:
    small = ["--n_hidden=16", "--batch=2", "--frames=20", "--precision=float32", "--rounds=1", "--alone"]
    done = run("train_step", *small)
    assert done.returncode == 0, done.stderr
    assert "2 utterances of 20 frames" in done.stdout
    assert "GFLOP/s" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--workers=1", "--figures=missing/figures"], "--figures: missing/figures is not in a folder that there is"),
        (["--workers=1", "--out=missing/scale.svg"], "--out: missing/scale.svg is not a file .svg in a folder"),
        (["--workers=1", "--out=scale.jpeg"], "--out: scale.jpeg is not a file .svg in a folder"),
    ],
)
def test_a_simulation_that_cannot_end_well_does_not_begin(arguments: list[str], reason: str) -> None:
    done = run("simulation", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr.splitlines()[-1]


def test_a_simulation_adds_no_figures_to_a_file_of_something_else(tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Notes\n")
    done = run("simulation", "--workers=1", f"--figures={notes}")
    assert (done.returncode, done.stdout, notes.read_text()) == (2, "", "# Notes\n")
    assert done.stderr.endswith(f"--figures: {notes} is not a file of such figures; choose another one\n")


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("simulation", ["--workers", "1", "0"], "--workers: must be 1 or more, not 0"),
        ("coordinator", ["--rate=nan"], "--rate: must be above 0, not nan"),
        ("coordinator", ["--seconds=inf"], "--seconds: must be above 0, not inf"),
        ("train_epoch", ["--epochs=1"], "--epochs: must be 2 or more, not 1"),
        ("train_step", ["--pytorch-python=nowhere/python"], "--pytorch-python: there is no program nowhere/python"),
        ("inference", ["--client=nowhere.py"], "--client: there is no file nowhere.py"),
    ],
)
def test_a_wrong_value_is_reported_before_anything_is_measured(name: str, arguments: list[str], reason: str) -> None:
    done = run(name, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].endswith(f"error: argument {reason}")


def test_a_server_that_does_not_start_is_reported_with_its_reason(tmp_path: Path) -> None:
    trained = write_graph(tmp_path / "trained.pb", 8, None)
    with pytest.raises(SystemExit, match=r"the server does not start: deepspeech-server: .*--nonsense"):
        Server(trained, ["nonsense"])


def test_what_prepares_a_measurement_is_told_if_it_fails(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"python\S* -c raise SystemExit\('why'\):\nwhy$"):
        run_quietly([sys.executable, "-c", "raise SystemExit('why')"])
    with pytest.raises(SystemExit, match=r"none: No such file"):
        run_quietly([tmp_path / "none"])


def test_a_thousand_members_are_served_over_http_and_none_is_lost() -> None:
    done = run("coordinator", "--workers=1000", "--seconds=2", "--rate=50")
    assert done.returncode == 0, done.stderr
    assert "members lost: 0, wrongly: 0, not yet: 0" in done.stdout


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--nonsense"], "error: --nonsense: there is no such flag; see --help"),
        (["--train_files=train.csv"], "error: --dev_files: give it behind --"),
        (["--train_files=nowhere.csv", "--dev_files=nowhere.csv"], "ours cannot be trained, for the reason above"),
    ],
)
def test_a_comparison_of_conformers_says_why_it_cannot_train(flags: list[str], reason: str) -> None:
    done = run("peer_conformer", "--", *flags)
    assert done.returncode > 0
    assert reason in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_trained_graph_that_is_wider_than_wanted_is_named_with_its_width(tmp_path: Path) -> None:
    trained = write_graph(tmp_path / "trained.pb", 8, None)
    with pytest.raises(SystemExit, match=r"--n_hidden: must be 8 or more, as in .*trained\.pb, not 4"):
        write_graph(tmp_path / "graph.pb", 4, trained)
    assert not (tmp_path / "graph.pb").exists()


def test_an_ablation_of_an_unknown_experiment_is_one_line(tmp_path: Path) -> None:
    done = run("accuracy.ablation", f"--from={tmp_path}", f"--work={tmp_path}", "--experiment=an5")
    assert done.returncode == 1
    assert done.stderr == "--experiment=an5: there is no such experiment; did you mean an4? See --experiment list\n"


def test_an_ablation_says_why_a_training_fails(tmp_path: Path) -> None:
    done = run("accuracy.ablation", f"--from={tmp_path / 'nowhere'}", f"--work={tmp_path}", "--without", "nothing")
    assert done.returncode == 1
    assert done.stderr.endswith("nowhere; name the folder of the recordings with --from\n")
    assert "Traceback" not in done.stderr


def test_an_ablation_of_averaging_trains_with_all_of_the_best_and_tests_without(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands: list[list[str]] = []

    def ran(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 0, stdout="I Test: loss 1.0, WER 5.00%, CER 2.00%")

    monkeypatch.setattr(subprocess, "run", ran)
    monkeypatch.setattr(sys, "argv", ["ablation", "--from=an4", "--work=ablation", "--without", "averaging"])
    ablation.main()
    assert "| averaging | 5.0 % | 5.0 % |" in capsys.readouterr().out
    training, *tests = commands
    assert "--notest" in training and "--average_checkpoints=1" not in training
    assert len(tests) == 2 and all({"--notrain", "--average_checkpoints=1"} < set(test) for test in tests)
    assert all("--work=ablation/nothing" in command for command in commands)
