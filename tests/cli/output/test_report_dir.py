"""`--report_dir`: a report of a test's errors, and `python -m deepspeech.compare_reports` on two such reports."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from program import Program, Trained, evaluate

from deepspeech.cli import flags
from deepspeech.errors import FlagError
from deepspeech.util.figures.error_report.folder import FILES, check_report_folder
from deepspeech.util.figures.error_report.results import read_results
from deepspeech.util.figures.errors.alignment import ErrorKinds


def compare(*folders: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deepspeech.compare_reports", *map(str, folders)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def with_speakers(program: Program, path: Path) -> Path:
    """Write the test set's CSV again, with a column for the speaker."""
    with program.corpus.test.open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*rows[0], "speaker"])
        for number, (wav, *row) in enumerate(rows[1:]):
            writer.writerow([program.corpus.test.parent / wav, *row, f"speaker {number % 2}"])
    return path


def test_training_and_evaluation_write_the_same_report_with_and_without_language_model(
    trained: Trained, graph_file: Path, scorer_file: Path, tmp_path: Path
) -> None:
    program, test_file = trained.program, with_speakers(trained.program, tmp_path / "test.csv")
    folders = [tmp_path / "of checkpoint", tmp_path / "of graph"]
    flags_of_test = [f"--test_files={test_file}", f"--lm_binary_path={scorer_file}"]
    tested = program.run(*program.model(), *flags_of_test, "--test_batch_size=4", f"--report_dir={folders[0]}")
    assert tested.code == 0, tested.stderr
    folders[1].mkdir()
    (folders[1] / "report.html").write_text("an older report")
    evaluated = evaluate(f"--model={graph_file}", *flags_of_test, "--beam_width=16", f"--report_dir={folders[1]}")
    assert evaluated.returncode == 0, evaluated.stderr
    for folder, stderr in zip(folders, (tested.stderr, evaluated.stderr), strict=True):
        assert {path.name for path in folder.iterdir()} == FILES
        assert f"Report of the errors: {folder / 'report.html'}" in stderr
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        assert f"WER {report['summary']['wer']['value']:.2%}" in stderr
        kinds = report["summary"]["word_errors"]
        assert f"word errors: {ErrorKinds(**kinds).in_words}" in stderr
        assert report["without_language_model"]["utterances"] == 6
        assert report["groupings"][0]["title"] == "Speaker"
        results = read_results(folder / "utterances.csv")
        assert [result.speaker for result in results] == ["speaker 0", "speaker 1"] * 3
        assert all(result.without_language_model is not None for result in results)
        assert all(Path(result.recording).is_file() and result.loudness is not None for result in results)
        assert "without language model" in (folder / "report.html").read_text(encoding="utf-8")
    same = compare(*folders)
    assert (same.returncode, same.stderr) == (0, "")
    assert same.stdout.endswith("No difference: both heard the same in every utterance.\n")
    (folders[0] / "utterances.csv").write_text("a,b\n1,2\n")
    damaged = compare(*folders)
    assert damaged.returncode == 1
    (line,) = damaged.stderr.splitlines()
    assert line.startswith(f"compare_reports: error: {folders[0] / 'utterances.csv'}: ")


def test_a_folder_that_holds_something_else_is_refused_before_the_test(program: Program) -> None:
    notes = program.folder / "notes"
    notes.mkdir()
    (notes / "diary.txt").write_text("dear diary")
    finished = program.run(*program.training(epoch=1), *program.test_files(), "--report_dir=notes")
    assert finished.code == 1
    assert finished.error.startswith("deepspeech: --report_dir=notes: holds diary.txt")
    assert (notes / "diary.txt").exists()
    assert not program.checkpoints.exists()


@pytest.mark.parametrize("name", ["file", "file/reports", "link"])
def test_what_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(FlagError, match=f"--report_dir={tmp_path / name}: .* name another"):
        check_report_folder(tmp_path / name)


def test_a_report_without_a_test_and_in_a_cluster_is_refused() -> None:
    with pytest.raises(FlagError, match="--report_dir: needs --test_files"):
        flags.parse(["--train_files=a.csv", "--report_dir=reports"])
    cluster = ["--ps_hosts=a:1", "--worker_hosts=b:1", "--job_name=worker"]
    with pytest.raises(FlagError, match="--report_dir: a cluster writes none"):
        flags.parse(["--train_files=a.csv", "--test_files=b.csv", "--report_dir=reports", *cluster])
