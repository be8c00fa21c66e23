from dataclasses import replace
from pathlib import Path

import pytest
from tested_utterances import results

from deepspeech.errors import CorpusError
from deepspeech.util.corpus_files import columns_by_line
from deepspeech.util.corpus_files.speakers import speaker_column
from deepspeech.util.figures.error_report.results import csv_of, read_results


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    first, second, third = results(3)
    columns = {"age": "12", "line": "x"}
    first = replace(first, reference='سمكة، "كلب"\nقطة', hypothesis="", loudness=None, columns=columns)
    written = [replace(each, without_language_model="one") for each in (first, second, third)]
    path = tmp_path / "utterances.csv"
    path.write_text(csv_of(written), encoding="utf-8")
    read = read_results(path)
    assert [each.reference for each in read] == [each.reference for each in written]
    assert [(each.line, each.hypothesis, each.without_language_model) for each in read] == [
        (each.line, each.hypothesis, "one") for each in written
    ]
    assert read[0].loudness is None
    assert read[1].seconds == pytest.approx(written[1].seconds, rel=1e-5)
    assert (read[0].columns["age"], read[1].speaker) == ("12", "s1")


def test_a_carriage_return_that_a_model_of_bytes_hears_leaves_the_rows_whole(tmp_path: Path) -> None:
    path = tmp_path / "utterances.csv"
    path.write_text(csv_of([replace(each, hypothesis="one\rtwo") for each in results(2)]), encoding="utf-8")
    assert [each.hypothesis for each in read_results(path)] == ["one\rtwo"] * 2


def test_without_a_language_model_there_is_no_text_without_it(tmp_path: Path) -> None:
    path = tmp_path / "utterances.csv"
    path.write_text(csv_of(results(2)), encoding="utf-8")
    assert {each.without_language_model for each in read_results(path)} == {None}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "no utterances"),
        ("a,b\n1,2\n", "no column csv_file; name the folder of a report"),
        (csv_of(results(1)).replace(",2,", ",x,"), "'x'"),
    ],
)
def test_a_file_that_is_no_report_is_named(tmp_path: Path, text: str, wrong: str) -> None:
    path = tmp_path / "utterances.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError, match=wrong) as error:
        read_results(path)
    assert str(error.value).startswith(f"{path}: ")


def test_speakers_are_known_by_several_names_of_columns() -> None:
    assert speaker_column({"age": "9", "Client_ID": "anna"}) == "Client_ID"
    assert speaker_column({"age": "9", "Speaker ID": "anna"}) == "Speaker ID"
    assert speaker_column({"talker-id": "anna"}) == "talker-id"
    assert speaker_column({"age": "9", "speaker": ""}) is None


def test_further_columns_are_those_that_training_does_not_read(tmp_path: Path) -> None:
    path = tmp_path / "test.csv"
    rows = ["speaker, transcript,wav_filename,wav_filesize,age", 'anna,"a\nb",a.wav,1,9', "too,few", "bob,c,b.wav,1,"]
    path.write_text("\ufeff" + "\n".join(rows), encoding="utf-8")
    assert columns_by_line(str(path)) == {2: {"speaker": "anna", "age": "9"}, 5: {"speaker": "bob", "age": ""}}
    assert columns_by_line(str(tmp_path / "missing.csv")) == {}
