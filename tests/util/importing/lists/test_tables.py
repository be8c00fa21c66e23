"""Recordings and tables that name them: LJSpeech's, and tables with any columns."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.errors import ImportingError
from deepspeech.util.importing import format_of
from deepspeech.util.importing.pipeline.records import Choices

ALL_TRAIN = Choices(split=(1, 0, 0))


def imported(folder: Path, choices: Choices = ALL_TRAIN) -> Import:
    return Import("table", folder, folder.with_name("out"), choices)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("clips/a.wav", "clips/b.flac", "more/c.wav"):
        tone(tmp_path / "recordings" / name, 2)
    return tmp_path / "recordings"


@pytest.mark.parametrize(
    "lines",
    [
        'clips/a.wav,one\nb,two\nc.wav,"three, and\nfour"\n',
        "file;words\nclips\\a.wav;one\n b.flac; two\nmore/c;three, and four\n",
        "a\tone\nb\ttwo\nc\tthree, and four\n",
        "a.wav | one\nb.wav | two\nc.wav | three, and four\n",
        "a one\nb two\nc three, and four\n",
        "a,one\nb,two\nc,three, and four\n",
        'number,sentence,clip\n1,one,a\n2,two,b\n3,"three, and four",c\n',
    ],
)
def test_a_table_may_name_recordings_in_many_ways(folder: Path, lines: str) -> None:
    write(folder / "transcripts.csv", lines.encode("utf-16"))
    done = imported(folder)
    assert done.transcripts == {"a.wav": "one", "b.flac": "two", "c.wav": "three, and four"}
    assert not done.left_out


def test_names_of_columns_say_what_is_in_them(folder: Path) -> None:
    header = "Clip,Start time,End,Speaker ID,Split,Text,Normalized text,Dialect"
    rows = ["a.wav,0.5,1.5,ann,train,ONE!,one,north", "a.wav,1,,bob,Validation,TWO,two,south", "b,,9,ann,test,3,three,"]
    write(folder / "all.csv", "\n".join([header, *rows, "c,x,1,ann,train,4,four,", "c,1,1,ann,train,4,four,"]))
    done = imported(folder, Choices())
    assert [(row["transcript"], row["speaker"], row["duration"]) for row in done.all_rows] == [
        ("one", "ann", "1.000"),
        ("two", "bob", "1.000"),
        ("three", "ann", "2.000"),
    ]
    assert [len(done.rows(name)) for name in ("train", "dev", "test")] == [1, 1, 1]
    assert (done.rows("train")[0]["dialect"], done.rows("train")[0]["text"]) == ("north", "ONE!")
    assert set(done.left_out) == {"all.csv:5", "all.csv:6"}
    assert set(done.left_out.values()) == {"a start, duration or end that cannot be used"}


@pytest.mark.parametrize(
    "header",
    [
        "Datei;Anfang;Ende;Sprecher;Satz;Ort",
        "Fichier;Début;Durée;Locuteur;Texte;Lieu",
        "Archivo;Inicio;Fin;Hablante;Transcripción;Lugar",
        "Arquivo;Início;Fim;Falante;Transcrição;Lugar",
        "Dominio;Inizio;Durata;Parlante;Testo;Luogo",
        "Файл;Начало;Конец;Диктор;Текст;Место",
        "文件;开始时间;结束时间;说话人;文本;地点",
        "ファイル;開始時刻;終了時刻;話者;テキスト;場所",
    ],
)
def test_names_of_columns_may_be_in_other_languages(header: str, folder: Path) -> None:
    rows = [f"{name};0;0,2;{speaker};a word;some other town far away" for name, speaker in ("aA", "bB", "cC")]
    write(folder / "all.csv", unicodedata.normalize("NFD", "\n".join([header, *rows])))
    done = imported(folder, Choices())
    assert {(row["transcript"], row["duration"]) for row in done.all_rows} == {("a word", "0.200")}
    assert {row["speaker"] for row in done.all_rows} == set("ABC")


def test_recordings_may_be_named_by_paths_that_lead_out_of_the_folder(folder: Path, tmp_path: Path) -> None:
    tone(tmp_path / "elsewhere" / "b.wav", 2)
    rows = [f"0,2,{tmp_path}/elsewhere/b.wav,ann,zero", "1,2,../elsewhere/b.wav,ann,one", "2,1,/gone/a.wav,ann,two"]
    write(folder / "train.csv", "\n".join(["ID,duration,wav,spk_id,wrd", *rows, "3,1,/gone/none.wav,ann,three"]))
    done = Import("table", folder, folder.parent / "out", ALL_TRAIN)
    assert [(row["transcript"], row["speaker"]) for row in done.all_rows] == [
        (text, "ann") for text in ("zero", "one", "two")
    ]
    first, second, third = (row["wav_filename"] for row in done.all_rows)
    assert first == second == str(tmp_path / "elsewhere" / "b.wav")
    assert third.startswith(str(folder))
    assert list(done.left_out.values()) == ["no recording of this name in the folder"]


def test_times_may_have_a_comma_before_their_fraction(folder: Path) -> None:
    write(folder / "liste.csv", "Datei;start;end;Text\na.wav;0,25;1,5;eins\n")
    assert [row["duration"] for row in imported(folder).all_rows] == ["1.250"]


@pytest.mark.parametrize("header", ["", "Datei\tSprache\tDauer\tSprecher\tWorte\n"])
def test_a_column_that_repeats_names_the_speakers(folder: Path, header: str) -> None:
    for number in range(6):
        tone(folder / f"{number}.wav")
    lines = "".join(f"{number}\ten\t1.5\tspeaker{number % 2}\tsentence number {number}\n" for number in range(6))
    write(folder / "utt_spk_text.tsv", header + lines)
    assert {row["speaker"] for row in imported(folder).all_rows} == {"speaker0", "speaker1"}


@pytest.mark.parametrize(("header", "warns"), [("", True), ("Datei,Wort\n", True), ("file,text\n", False)])
def test_columns_that_are_not_named_are_told(
    folder: Path, header: str, warns: bool, caplog: pytest.LogCaptureFixture
) -> None:
    write(folder / "all.csv", f"{header}a,one\nb,two\n")
    assert imported(folder).transcripts == {"a.wav": "one", "b.flac": "two"}
    names = (" (datei)", " (wort)") if header else ("", "")
    told = "all.csv: read with recordings in column 1{}, transcripts in column 2{}; if that is wrong, name".format(
        *names
    )
    assert any(told in record.getMessage() for record in caplog.records) == warns


def test_crowdsourced_corpora_have_the_speaker_in_the_name(tmp_path: Path) -> None:
    folder = tmp_path / "gu_in_female"
    names = [f"guf_{speaker:05d}_{number:011d}" for speaker in (202, 1063) for number in range(2)]
    for name in names:
        tone(folder / f"{name}.wav")
    write(folder / "line_index.tsv", "".join(f"{name}\t\tવાક્ય {name[-1]}\n" for name in names))
    done = imported(folder)
    assert {row["speaker"] for row in done.all_rows} == {"guf_00202", "guf_01063"}
    assert set(done.transcripts.values()) == {"વાક્ય 0", "વાક્ય 1"}


def test_each_table_that_is_named_as_a_set_is_one(folder: Path) -> None:
    for name, recording in (("train", "a"), ("valid", "b"), ("test", "c")):
        write(folder / "lists" / f"{name}.txt", f"{recording} word\n")
    write(folder / "all.txt", "a word\nb word\nc word\n")
    assert imported(folder, Choices()).sets == {"train": {"a.wav"}, "dev": {"b.flac"}, "test": {"c.wav"}}


def test_rows_that_cannot_be_used_are_listed(folder: Path) -> None:
    tone(folder / "again/a.wav")
    write(folder / "all.tsv", "clips/a.wav\tone\na\tone\nlost\ttwo\nb\nc\tthree\n")
    done = imported(folder)
    assert sorted(done.transcripts.values()) == ["one", "three"]
    assert done.left_out == {
        "all.tsv:2": "several recordings of this name in the folder",
        "all.tsv:3": "no recording of this name in the folder",
        "all.tsv:4": "fewer fields than columns",
    }


def test_transcripts_may_be_numbers_and_the_first_recording_may_be_missing(folder: Path) -> None:
    write(folder / "all.csv", "lost.wav,1\na.wav,12\nb.flac,34\n")
    done = imported(folder)
    assert done.transcripts == {"a.wav": "12", "b.flac": "34"}
    assert done.left_out == {"all.csv:1": "no recording of this name in the folder"}


def test_texts_beside_recordings_are_no_tables(folder: Path) -> None:
    write(folder / "clips/a.txt", "a word\n")
    with pytest.raises(ImportingError, match=r"has no table .* whose lines name recordings"):
        imported(folder)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(b"a,caf\xe9\n", r"all\.csv:1: not UTF-8"), (b'a,one\nb,"two\nc,three\n', r"all\.csv:3: malformed CSV")],
)
def test_a_table_that_cannot_be_read_is_named_with_its_line(folder: Path, content: bytes, complaint: str) -> None:
    write(folder / "all.csv", content)
    with pytest.raises(ImportingError, match=complaint):
        imported(folder)


def test_ljspeech_takes_the_normalized_text_and_leaves_quotes_alone(tmp_path: Path) -> None:
    for name in ("LJ1", "LJ2", "grüße"):
        tone(tmp_path / "wavs" / f"{name}.wav")
    write(tmp_path / "metadata.csv", 'LJ1|Dr. "A"|doctor "a"\nLJ2|two|\ngrüße|"hallo\nLJ3\n')
    done = Import("ljspeech", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert done.transcripts == {"LJ1.wav": 'doctor "a"', "LJ2.wav": "two", "grüße.wav": '"hallo'}
    assert done.left_out == {"metadata.csv:4": "a line without |"}


def test_ljspeech_takes_what_a_header_says_and_refuses_speakers_for_transcripts(tmp_path: Path) -> None:
    for number in range(10):
        tone(tmp_path / "wavs" / f"LJ{number}.wav")
    for first in ("Ann Lee", "s"):
        lines = "".join(f"wavs/LJ{number}.wav|one {number}|{first}{number % 2}\n" for number in range(10))
        write(tmp_path / "metadata.csv", lines)
        refused = rf"metadata\.csv: the last column has only {first}0, {first}1, .* file\|text\|speaker$"
        with pytest.raises(ImportingError, match=refused):
            Import("ljspeech", tmp_path, tmp_path / "out")
    write(tmp_path / "metadata.csv", f"File|Text|Speaker\n{lines}")
    done = Import("ljspeech", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert done.transcripts == {f"LJ{number}.wav": f"one {number}" for number in range(10)}
    assert {row["speaker"] for row in done.all_rows} == {"s0", "s1"} and not done.left_out
    write(tmp_path / "metadata.csv", "file|text|speaker\nLJ1|one|two|s0\nLJ2|two|s1\n")
    done = Import("ljspeech", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert [(row["transcript"], row["speaker"]) for row in done.all_rows] == [("two", "s1")]
    assert done.left_out == {"metadata.csv:2": "more fields than the header has columns"}
    write(tmp_path / "metadata.csv", "id|transcript|normalized transcript\nLJ1|Dr. A|doctor a\nLJ2|two|\n")
    done = Import("ljspeech", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert done.transcripts == {"LJ1.wav": "doctor a", "LJ2.wav": "two"}


def test_ljspeech_refuses_lengths_for_transcripts(tmp_path: Path) -> None:
    for number in range(4):
        tone(tmp_path / "wavs" / f"LJ{number}.wav")
    lengths = "".join(f"wavs/LJ{number}.wav|one {number}|{number}.5\n" for number in range(4))
    write(tmp_path / "metadata.csv", lengths)
    with pytest.raises(ImportingError, match=r"only 0\.5, 1\.5, 2\.5 …, as if it gave lengths; .*file\|text\|seconds$"):
        Import("ljspeech", tmp_path, tmp_path / "out")
    write(tmp_path / "metadata.csv", f"file|text|seconds\n{lengths}")
    done = Import("ljspeech", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert done.transcripts == {f"LJ{number}.wav": f"one {number}" for number in range(4)}


@pytest.mark.parametrize(
    "table",
    [
        "file;start;end;text\na.wav;00:00:00,250;00:00:01,750;one\na.wav;00:02;00:03;two\n",
        "file,Start (ms),End (ms),text\na.wav,250,1750,one\na.wav,2000,3000,two\n",
        "file,start_time_ms,duration_ms,text\na.wav,250,1500,one\na.wav,2000,1000,two\n",
    ],
)
def test_times_may_have_minutes_or_be_milliseconds(table: str, tmp_path: Path) -> None:
    tone(tmp_path / "corpus" / "a.wav", 4)
    write(tmp_path / "corpus" / "list.csv", table)
    done = Import("table", tmp_path / "corpus", tmp_path / "out", Choices(split=(1, 0, 0)))
    assert [(row["transcript"], row["duration"]) for row in done.all_rows] == [("one", "1.500"), ("two", "1.000")]


def test_texts_of_parts_need_names_of_the_columns_of_times(tmp_path: Path) -> None:
    tone(tmp_path / "corpus" / "a.wav", 9)
    rows = "".join(f"a.wav;{second};{second + 1};text {second}\n" for second in range(4))
    write(tmp_path / "corpus" / "list.csv", f"Datei;Von;Bis;Text\n{rows}")
    with pytest.raises(ImportingError, match="name the columns of their times start and end"):
        format_of(tmp_path / "corpus", Choices())


def test_names_may_be_those_of_windows_and_excel(tmp_path: Path) -> None:
    for name in ("Rec/A.WAV", "Rec/b.wav", "c.wav"):
        tone(tmp_path / "corpus" / name)
    text = "sep=;\r\nfile;text\r\nC:\\Data\\Rec\\a.wav;one\r\nrec\\B;two\r\nC.WAV;three\r\n"
    write(tmp_path / "corpus" / "list.csv", text)
    done = imported(tmp_path / "corpus")
    assert done.transcripts == {"A.WAV": "one", "b.wav": "two", "c.wav": "three"}
    assert not done.left_out


def test_quotes_of_spreadsheets_are_no_part_of_a_text_between_tabs(tmp_path: Path) -> None:
    said = {"a": '"one, two"', "b": '"he said ""three"""', "c": '"four" or "five", I say', "d": '"six"', "e": "seven"}
    for name in said:
        tone(tmp_path / "corpus" / f"{name}.wav")
    write(tmp_path / "corpus" / "list.txt", "".join(f"{name}.wav\t{text}\n" for name, text in said.items()))
    texts = ["one, two", 'he said "three"', '"four" or "five", I say', '"six"', "seven"]
    assert list(imported(tmp_path / "corpus").transcripts.values()) == texts


def test_further_columns_are_not_those_that_training_reads(folder: Path) -> None:
    write(folder / "a.csv", "file,text,transcript,wav_filesize,day\na.wav,yes,no,7,monday\n")
    row = Import("table", folder, folder.with_name("out"), Choices(split=(1, 0, 0))).rows("train")[0]
    assert list(row) == ["wav_filename", "wav_filesize", "transcript", "speaker", "duration", "day"]
    assert (row["transcript"], row["day"]) == ("yes", "monday") and int(row["wav_filesize"]) > 7


def test_a_table_that_cannot_be_read_is_named_if_another_can(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(folder / "one.csv", "file,text\na.wav,one\n")
    write(folder / "two.csv", b"file,text\nb.wav,caf\xe9\n")
    assert imported(folder).transcripts == {"a.wav": "one"}
    assert "two.csv:2: not UTF-8; save it as UTF-8; nothing in it is taken" in caplog.text
