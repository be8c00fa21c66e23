"""`--test_output_file`: the reference and the transcript of each utterance of a test, as in DeepSpeech 0.9."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import soundfile
from program import Program, Trained, evaluate

from deepspeech.cli import flags
from deepspeech.decoder import CTCDecoder
from deepspeech.decoder.evaluation import Evaluation
from deepspeech.errors import FlagError
from deepspeech.options import ReportOptions
from deepspeech.util.figures.metrics import evaluate_transcript
from deepspeech.util.figures.output_file import check_output_file

KEYS = [
    "wav_filename",
    "src",
    "res",
    "loss",
    "char_distance",
    "char_length",
    "word_distance",
    "word_length",
    "cer",
    "wer",
]


def read(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text(encoding="utf-8")))


def test_each_utterance_of_a_test_is_written_in_the_order_of_the_csv(trained: Trained, tmp_path: Path) -> None:
    program, file = trained.program, tmp_path / "tested.json"
    finished = program.run(*program.model(), *program.test_files(), f"--test_output_file={file}")
    assert finished.code == 0, finished.stderr
    with program.corpus.test.open(encoding="utf-8") as rows:
        said = [row["transcript"] for row in csv.DictReader(rows)]
    tested = read(file)
    assert [each["src"] for each in tested] == said
    for each in tested:
        assert list(each) == [*KEYS, "duration"]
        edits = evaluate_transcript(each["src"], each["res"])
        assert (each["char_distance"], each["word_distance"]) == (edits.character_edits, edits.word_edits)
        assert (each["char_length"], each["word_length"]) == (len(each["src"]), len(each["src"].split()))
        assert (each["cer"], each["wer"]) == (edits.cer, edits.wer)
        assert each["duration"] == pytest.approx(soundfile.info(each["wav_filename"]).duration, abs=1e-3)
    mean_loss = sum(each["loss"] for each in tested) / len(tested)
    assert f"Test: loss {mean_loss:.4f}" in finished.stderr


def test_an_evaluation_of_the_exported_graph_writes_the_same(
    trained: Trained, graph_file: Path, tmp_path: Path
) -> None:
    program, files = trained.program, [tmp_path / "of_checkpoint.json", tmp_path / "of_graph.json"]
    finished = program.run(*program.model(), *program.test_files(), f"--test_output_file={files[0]}")
    assert finished.code == 0, finished.stderr
    flags_of_test = (f"--test_files={program.corpus.test}", "--beam_width=16", f"--test_output_file={files[1]}")
    evaluated = evaluate(f"--model={graph_file}", *flags_of_test)
    assert evaluated.returncode == 0, evaluated.stderr
    of_checkpoint, of_graph = map(read, files)
    assert [each.pop("loss") for each in of_graph] == pytest.approx(
        [each.pop("loss") for each in of_checkpoint], rel=1e-3
    )
    assert of_graph == of_checkpoint


@pytest.mark.parametrize("name", ["missing/tested.json", "."])
def test_a_file_that_cannot_be_written_is_refused_before_the_test(program: Program, name: str) -> None:
    finished = program.run(*program.training(epoch=1), *program.test_files(), f"--test_output_file={name}")
    assert finished.code == 1
    assert finished.error.startswith(f"deepspeech: --test_output_file={name}: ")
    assert not program.checkpoints.exists()


def test_a_file_that_no_test_has_written_is_refused_and_stays(tmp_path: Path) -> None:
    listed = tmp_path / "test.csv"
    listed.write_text("wav_filename,transcript\n")
    with pytest.raises(FlagError, match="exists and is not what a test has written"):
        check_output_file(listed)
    assert listed.read_text() == "wav_filename,transcript\n"


def test_the_file_of_an_earlier_test_is_written_anew(tmp_path: Path) -> None:
    file = tmp_path / "tested.json"
    for of_earlier_test in ("[]", '[\n  {"src": "one"}\n]', ""):
        file.write_text(of_earlier_test)
        check_output_file(file)


def test_a_file_without_a_test_is_refused() -> None:
    with pytest.raises(FlagError, match="--test_output_file: needs --test_files"):
        flags.parse(["--train_files=a.csv", "--test_output_file=tested.json"])


def test_the_file_of_an_experiment_is_not_written_in_a_run_without_a_test(tmp_path: Path) -> None:
    options = ReportOptions(test_output_file=tmp_path / "tested.json", report_dir=tmp_path / "report")
    Evaluation.of_test(CTCDecoder(("a", "b")), (), None, options, "some model").write(progress=False)
    assert not list(tmp_path.iterdir())


def test_a_file_of_a_cluster_is_refused() -> None:
    cluster = ["--ps_hosts=a:1", "--worker_hosts=b:1", "--job_name=worker"]
    with pytest.raises(FlagError, match="--test_output_file: a cluster writes none"):
        flags.parse(["--train_files=a.csv", "--test_files=b.csv", "--test_output_file=tested.json", *cluster])
