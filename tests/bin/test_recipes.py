"""The run-*.sh recipes train and test from any folder, and report why they cannot run."""

import os
import pwd
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from running import ROOT, assert_fails_with, run_script

RECIPES = ("run-demo.sh", "run-fsdd.sh", "run-yesno.sh", "run-ldc93s1.sh")


def run_recipe(
    name: str, *arguments: object, folder: Path, python: str = sys.executable
) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHON": python, "XDG_CACHE_HOME": str(folder / "cache")}
    command = [str(ROOT / "bin" / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=folder, env=environment)


@pytest.mark.parametrize("name", RECIPES)
def test_help_is_the_head_of_the_script_and_starts_nothing(name: str, tmp_path: Path) -> None:
    done = run_recipe(name, "--help", folder=tmp_path, python="/bin/false")
    assert done.returncode == 0
    assert f"bin/{name}" in done.stdout
    assert "[FLAG...]\n" in done.stdout
    assert "The FLAGs are those of deepspeech-train" in " ".join(done.stdout.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", RECIPES)
def test_a_python_without_deepspeech_is_named(name: str, tmp_path: Path) -> None:
    assert_fails_with(run_recipe(name, folder=tmp_path, python="/bin/false"), "/bin/false", "deepspeech", "PYTHON")


def test_an_option_without_its_folder_is_named(tmp_path: Path) -> None:
    assert_fails_with(run_recipe("run-demo.sh", "--work", folder=tmp_path), "--work needs a folder")
    for option in ("--from", "--work"):
        done = run_recipe("run-fsdd.sh", option, folder=tmp_path)
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1 and option in done.stderr


def test_a_flag_that_trains_nothing_ends_the_demo(tmp_path: Path) -> None:
    done = run_recipe("run-demo.sh", "--work", "work", "--version", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert re.fullmatch(r"DeepSpeech [\d.]+\S*\n", done.stdout)


def test_the_accounts_home_is_taken_where_the_environment_names_none() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    script = 'source "$0"; choose_work_folder demo; echo "$work"'
    command = ["bash", "-euc", script, str(ROOT / "bin/shared/recipe.sh")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.stdout == f"{pwd.getpwuid(os.getuid()).pw_dir}/.cache/deepspeech/demo\n", done.stderr


@pytest.mark.parametrize("python", [Path(sys.executable).name, sys.executable])
def test_the_command_that_a_recipe_shows_is_the_one_beside_python(python: str) -> None:
    environment = {**os.environ, "PYTHON": python, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = ["bash", "-euc", 'source "$0"; path_of deepspeech', str(ROOT / "bin/shared/recipe.sh")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == f"{Path(sys.executable).parent}/deepspeech\n"


@pytest.mark.parametrize("given", [("--work", "a folder"), ("--work=a folder",)])
def test_the_work_folder_may_stand_anywhere_among_the_arguments(given: tuple[str, ...]) -> None:
    script = 'source "$0"; choose_work_folder demo "$@"; printf "%s\\n" "$work" "${arguments[@]}"'
    command = ["bash", "-euc", script, str(ROOT / "bin/shared/recipe.sh"), "one.wav", *given, "--workers=2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["a folder", "one.wav", "--workers=2"]


def test_recordings_that_are_not_there_stop_a_recipe_before_it_trains(tmp_path: Path) -> None:
    done = run_recipe("run-yesno.sh", "--from", "nowhere", folder=tmp_path)
    assert done.returncode == 1
    assert "nowhere" in done.stderr and "no folder" in done.stderr
    assert not list(tmp_path.rglob("checkpoints"))


def test_the_smoke_test_needs_a_recording_and_its_transcript(tmp_path: Path) -> None:
    assert_fails_with(run_recipe("run-ldc93s1.sh", folder=tmp_path), "WAV and TRANSCRIPT")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of a few spoken sentences, with train.csv, dev.csv, test.csv and recordings."""
    folder = tmp_path_factory.mktemp("spoken") / "corpus"
    assert run_script("demo/make_demo_corpus.py", folder, "--train", 30, "--dev", 2, "--test", 2).returncode == 0
    return folder


@pytest.mark.slow
def test_the_smoke_test_learns_a_recording_by_heart_in_a_folder_with_a_space(corpus: Path, tmp_path: Path) -> None:
    spoken = next(iter((corpus / "test").glob("00000-*.wav")))
    said = (corpus / "test.csv").read_text().splitlines()[1].split(",")[2]
    folder = tmp_path / "a folder"
    folder.mkdir()
    shutil.copy(spoken, folder / "one.wav")
    (folder / "one.txt").write_text(f"0 20000 {said.capitalize()}.\n")
    done = run_recipe("run-ldc93s1.sh", "--work", "work", "one.wav", "one.txt", folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == said


@pytest.mark.slow
def test_the_smoke_test_fails_when_something_else_is_heard(corpus: Path, tmp_path: Path) -> None:
    spoken = next(iter((corpus / "test").glob("00000-*.wav")))
    (tmp_path / "one.txt").write_text("0 20000 Yes.\n")
    done = run_recipe("run-ldc93s1.sh", spoken, tmp_path / "one.txt", "--epoch", 1, folder=tmp_path)
    assert_fails_with(done, "was heard instead of 'yes'")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pattern"), [("run-fsdd.sh", "{0}_ann_{1}.wav"), ("run-yesno.sh", "{2}.wav")])
def test_a_recipe_imports_trains_and_tests(name: str, pattern: str, corpus: Path, tmp_path: Path) -> None:
    recordings = tmp_path / "recordings"
    recordings.mkdir()
    for number, path in enumerate(sorted((corpus / "train").iterdir())):
        spelled = "_".join(f"{number:08b}")
        shutil.copy(path, recordings / pattern.format(number % 10, number // 10 * 5, spelled))
    done = run_recipe(name, "--from", "recordings", "--work", "work", "--epoch", 1, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "work" / "corpus" / "test.csv").is_file()
    assert any((tmp_path / "work" / "checkpoints").iterdir())
    assert "WER" in done.stderr + done.stdout


@pytest.mark.slow
def test_the_demo_transcribes_with_the_network_that_its_flags_describe(tmp_path: Path) -> None:
    short = ("--n_hidden=32", "--epoch=1", "--limit_train=16", "--limit_dev=1", "--limit_test=1")
    done = run_recipe("run-demo.sh", "--work", "work", *short, "--test_output_file=tested.json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\ntranscription: " in done.stdout
    assert "deepspeech: " not in done.stderr
    assert (tmp_path / "tested.json").is_file()


@pytest.mark.slow
def test_the_yesno_recipe_learns_to_hear_every_word(shared: Path, tmp_path: Path) -> None:
    half_as_long = "--epoch=80"  # enough for four of four seeds
    done = run_recipe("run-yesno.sh", "--from", shared / "data/yesno", "--work", "work", half_as_long, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (result,) = re.findall(r"^I Test: loss .*", done.stderr, re.MULTILINE)
    assert "30 utterances, 240 words" in result
    (wer,) = re.findall(r"WER ([\d.]+)%", result)
    assert float(wer) <= 1, "it has not learned to tell yes from no"  # a word is 0.42 %, which processors may differ by
