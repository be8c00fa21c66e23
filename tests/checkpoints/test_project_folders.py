"""Runs that name no folder store their checkpoints by project, and find them again."""

import logging
from pathlib import Path

import pytest
from program import Program, Trained
from xdg import BaseDirectory

from deepspeech.checkpoints.project_folders import in_project_folders
from deepspeech.cli.flags import parse
from deepspeech.errors import FlagError
from deepspeech.options import Options


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the program's folder in XDG's data folder."""
    monkeypatch.setattr(BaseDirectory, "xdg_data_home", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "deepspeech"


def parsed(*arguments: str) -> Options:
    options = parse(arguments)
    assert options is not None
    return in_project_folders(options)


def train(*arguments: str) -> Options:
    return parsed(*(arguments or ("--train_files=corpora/digits/train.csv",)))


def transcribe() -> Options:
    return parsed("--one_shot_infer=a.wav")


def checkpoint_in(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "train-3.index").write_bytes(b"")
    return folder


def test_each_corpus_has_folders_of_its_own_with_a_name_that_says_which(data: Path) -> None:
    digits = train()
    folder = digits.checkpoints.directory
    assert folder.parent.parent == data / "projects"
    assert folder.parent.name.startswith("digits-train-")
    assert digits.summaries.directory == folder.parent / "summaries"
    same = train(
        f"--train_files={Path('corpora/../corpora/digits/train.csv').absolute()},more.csv",
        "--notrain",
        "--test_files=a",
    )
    assert same.checkpoints.directory == folder
    others = ("--train_files=elsewhere/digits/train.csv", "--train_files=corpora/digits/other.csv")
    assert len({folder, *(train(other).checkpoints.directory for other in others)}) == 3
    assert not data.exists()


def test_an_experiment_without_a_work_folder_has_its_own(tmp_path: Path) -> None:
    parameters = tmp_path / "params.txt"
    parameters.write_text('experiment : "mine"\ntrain_files : ("train.csv",)\n')
    assert parsed(f"--params_file={parameters}").checkpoints.directory.parent.name.startswith("mine-")


def test_folders_that_are_given_stay(tmp_path: Path, data: Path) -> None:
    options = train("--train_files=a/train.csv", f"--checkpoint_dir={tmp_path / 'c'}")
    assert options.checkpoints.directory == tmp_path / "c"
    assert options.summaries.directory.parent.parent == data / "projects"
    assert train("--train_files=train.csv", "--summary_dir=s").summaries.directory == Path("s")


def test_other_folders_that_are_given_need_no_project(tmp_path: Path, data: Path) -> None:
    load, save = f"--load_checkpoint_dir={tmp_path / 'base'}", f"--save_checkpoint_dir={tmp_path / 'mine'}"
    assert parsed("--one_shot_infer=a.wav", load).checkpoints.load_directory == tmp_path / "base"
    assert train("--train_files=a/train.csv", load, save).checkpoints.given_directory is None
    begun = train("--train_files=a/train.csv", load).checkpoints
    assert begun.load_directory == tmp_path / "base"
    assert begun.directory.parent.parent == data / "projects"


def test_checkpoints_of_an_earlier_version_are_gone_on_with(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    old = checkpoint_in(data / "checkpoints")
    options = train()
    assert options.checkpoints.directory == old
    assert options.summaries.directory == data / "summaries"
    assert [(each.levelno, str(old) in each.getMessage()) for each in caplog.records] == [(logging.WARNING, True)]
    assert transcribe().checkpoints.directory == old
    old.rename(data / "moved")
    own = checkpoint_in(train().checkpoints.directory)
    (data / "moved").rename(old)
    assert train().checkpoints.directory == own


def test_several_models_are_listed_for_a_run_that_names_none() -> None:
    with pytest.raises(FlagError, match=r"--checkpoint_dir: needed, as .*projects holds no checkpoints"):
        transcribe()
    folders = [checkpoint_in(train(f"--train_files={name}/train.csv").checkpoints.directory) for name in "ab"]
    with pytest.raises(FlagError, match="--checkpoint_dir: needed, as there are several") as caught:
        transcribe()
    assert all(str(folder) in str(caught.value) for folder in folders)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("node", [["--job_name=ps"], ["--job_name=worker", "--task_index=1"]])
def test_nodes_of_a_cluster_that_have_no_checkpoints_need_no_model(node: list[str], data: Path) -> None:
    tests = ["--notrain", "--test_files=test.csv", "--ps_hosts=a:1", "--worker_hosts=b:1,c:1"]
    parsed(*tests, *node)
    with pytest.raises(FlagError, match=f"{data / 'projects'} holds no checkpoints"):
        parsed(*tests, "--job_name=worker", "--task_index=0")


def test_the_only_model_is_found_and_said(trained: Trained, data: Path) -> None:
    folder = data / "projects" / "tiny-train-01234567"
    folder.mkdir(parents=True)
    (folder / "checkpoints").symlink_to(trained.program.checkpoints)
    recording = trained.program.corpus.train.parent / "wav" / "train-0.wav"
    flags = [flag for flag in trained.program.model() if not flag.startswith("--checkpoint_dir")]
    finished = trained.program.run(*flags, f"--one_shot_infer={recording}")
    assert finished.code == 0, finished.stderr
    assert finished.stdout.strip()
    assert (
        f"I --checkpoint_dir: not given; the only checkpoints are those in {folder / 'checkpoints'}\n"
        in finished.stderr
    )


def test_a_run_without_a_model_ends_with_one_line(program: Program) -> None:
    finished = program.run("--one_shot_infer=a.wav")
    assert finished.code == 1
    assert finished.error.startswith("deepspeech: --checkpoint_dir: needed")
