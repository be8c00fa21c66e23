"""Tables in the layouts of published corpora: the same names in several folders, sets of folders, other separators."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.errors import ImportingError
from deepspeech.util.importing import format_of
from deepspeech.util.importing.pipeline.records import Choices


def imported(folder: Path) -> Import:
    assert format_of(folder, Choices()) == "table"
    return Import("table", folder, folder.with_name("out"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "corpus"


def test_a_table_means_the_recordings_nearest_to_it(folder: Path) -> None:
    for speaker in ("jvs001", "jvs002"):
        for part in ("parallel100", "nonpara30"):
            tone(folder / speaker / part / "wav24kHz16bit" / "A_001.wav")
            write(folder / speaker / part / "transcripts_utf8.txt", f"A_001:{speaker}: {part}\n")
    done = imported(folder)
    assert {row["wav_filename"].split("/")[-4] for row in done.all_rows} == {"jvs001", "jvs002"}
    for row in done.all_rows:
        assert row["transcript"] == ": ".join(Path(row["wav_filename"]).parts[-4:-2])


def test_a_folder_wav_is_meant_rather_than_others_with_the_same_recordings(folder: Path) -> None:
    for voice in ("bdl", "slt"):
        for place in ("orig", "wav"):
            tone(folder / voice / place / "arctic_a0001.wav")
        write(folder / voice / "etc" / "txt.done.data", f'( arctic_a0001 "He said (""{voice}"")." )\n')
    done = imported(folder)
    assert {Path(row["wav_filename"]).parent.name for row in done.all_rows} == {"wav"}
    assert {row["transcript"] for row in done.all_rows} == {'He said (""bdl"").', 'He said (""slt"").'}


def test_paths_may_begin_below_the_folder_of_the_table(folder: Path) -> None:
    for part in ("train", "val"):
        for place in ("aa", "bb"):
            tone(folder / part / place / "1.wav")
        write(folder / f"{part}.csv", "wav_filename|wav_filesize|transcript\naa/1.wav|1|a, b\nbb/1.wav|1|c\n")
    done = Import("table", folder, folder.with_name("out"), Choices(split=(1, 0, 0)))
    assert sorted("/".join(Path(row["wav_filename"]).parts[-3:]) for row in done.all_rows) == [
        *("train/aa/1.wav", "train/bb/1.wav", "val/aa/1.wav", "val/bb/1.wav"),
    ]


@pytest.mark.parametrize("table", ["vivos/{}/prompts.txt", "transcripts/all_of_them.txt"])
def test_folders_that_are_named_as_sets_are_the_sets(table: str, folder: Path) -> None:
    tables: dict[str, str] = {}
    for number, part in enumerate(("train", "dev", "test")):
        tone(folder / "vivos" / part / "waves" / "ann" / f"ann_{number}.wav")
        tables[table.format(part)] = tables.get(table.format(part), "") + f"ann_{number} a word\n"
    for name, text in tables.items():
        write(folder / name, text)
    assert imported(folder).sets == {"train": {"ann_0.wav"}, "dev": {"ann_1.wav"}, "test": {"ann_2.wav"}}


def test_a_folder_named_test_alone_is_no_set(folder: Path) -> None:
    for number in range(3):
        tone(folder / "test" / f"{number}.wav")
    write(folder / "test" / "words.txt", "".join(f"{number} a word\n" for number in range(3)))
    assert all(imported(folder).sets.values())


def test_of_two_tables_of_the_same_recordings_only_one_is_used(folder: Path) -> None:
    tone(folder / "audio" / "a.wav")
    for name in ("transcription.txt", "transcription_n2w.txt"):
        write(folder / name, "a.m4a\ta word\n")
    done = imported(folder)
    assert done.transcripts == {"a.wav": "a word"}
    assert done.left_out == {"transcription_n2w.txt:1": "an utterance of another list, too; keep one of the lists"}


def test_translations_in_another_script_are_no_transcripts_and_letters_are_not_taken_apart(folder: Path) -> None:
    lines = []
    for name, text in (("1_0000", "작은 문"), ("1_0001", "열어 주세요")):
        tone(folder / "1" / f"{name}.wav")
        lines.append(f"1/{name}.wav|{text}.|{text}|{unicodedata.normalize('NFD', text)}|1.5|open the small door\n")
    write(folder / "transcript.v.1.4.txt", "".join(lines))
    assert imported(folder).transcripts == {"1_0000.wav": "작은 문", "1_0001.wav": "열어 주세요"}


def test_a_field_may_name_the_file_of_the_text(folder: Path) -> None:
    tone(folder / "audio" / "a.wav")
    write(folder / "transcription" / "a.txt", "一句话\n")
    write(folder / "train.csv", "audio_path,text_path,gender\n./audio/a.wav,./transcription/a.txt,male\n")
    assert imported(folder).transcripts == {"a.wav": "一句话"}


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("train.lst", "u1 audio/a.wav 1000.5 a word\n"),
        ("text", "a a word\n"),
        ("train_text", "a\ta word\n"),
        ("lists/a.trn", "audio/a.wav :: a word\n"),
        ("etc/all.transcription", "<s> a word </s> (a)\n"),
        ("orthographic-transcript.txt", '"a.wav" "a word"\n'),
        ("voices.list", "/data/raw/a.wav|anna|ZH|a word\n"),
        ("label", "a a word\n"),
        (
            "a.tdf",
            "file;unicode\tchannel;int\tstart;float\tend;float\ttranscript;unicode\n"
            ";;MM sections\t[]\na.sph\t0\t0.0\t0.5\ta word\n",
        ),
    ],
)
def test_lists_of_other_toolkits_are_tables(table: str, line: str, folder: Path) -> None:
    tone(folder / "audio" / "a.wav")
    write(folder / table, line)
    assert imported(folder).transcripts == {"a.wav": "a word"}


def test_times_are_no_transcripts(folder: Path) -> None:
    tone(folder / "a.wav")
    write(folder / "segments.lst", "a 0.00 0.20\na 0.20 0.40\n")
    with pytest.raises(ImportingError):
        format_of(folder, Choices())


@pytest.mark.parametrize(
    "table",
    [
        "File ID,Ticker Symbol,Country by Ticker,Language Family\nu1,ABC,South Africa,Bantu\nu2,DEF,Ghana,Other\n",
        "uttID deviceID\nu1 30\nu2 31\n",
        "u1\thttps://host/book.mp3\t0.0\t1.0\nu2\thttps://host/book.mp3\t1.0\t2.0\n",
    ],
)
def test_facts_about_recordings_are_no_transcripts(table: str, folder: Path) -> None:
    for name in ("u1", "u2"):
        tone(folder / "audio" / f"{name}.wav")
        write(folder / "texts" / f"{name}.txt", f"a word {name}")
    write(folder / "about" / "train.csv", table)
    assert format_of(folder, Choices()) == "folder"
    assert Import("folder", folder, folder.with_name("out")).transcripts == {
        "u1.wav": "a word u1",
        "u2.wav": "a word u2",
    }


def test_single_words_in_a_table_of_two_columns_are_transcripts(folder: Path) -> None:
    for name in "ab":
        tone(folder / f"{name}.wav")
    write(folder / "words.csv", "clip,word\na,yes\nb,no\n")
    assert imported(folder).transcripts == {"a.wav": "yes", "b.wav": "no"}


def test_the_column_of_recordings_is_the_one_that_names_each_of_them_clearly(folder: Path) -> None:
    lines = [",path,transcription"]
    for speaker in ("ann", "bob"):
        for number in range(2):
            tone(folder / "wavs" / speaker / f"{number}.wav")
            lines.append(f"{number},wavs/{speaker}/{number}.wav,words {speaker} {number}")
    write(folder / "data" / "all.csv", "\n".join(lines))
    assert len(imported(folder).all_rows) == 4


def test_further_lines_about_a_recording_are_passed_over(folder: Path) -> None:
    for name in ("000001", "000002"):
        tone(folder / "Wave" / f"{name}.wav")
    lines = "000001\t打开#2那扇小门#4。\n\tda3 kai1\n000002\t今天#1河水很高#4。\n\tjin1 tian1\n"
    write(folder / "ProsodyLabeling" / "000001-000002.txt", lines)
    done = imported(folder)
    assert done.transcripts == {"000001.wav": "打开那扇小门。", "000002.wav": "今天河水很高。"}
    assert not done.left_out


@pytest.mark.parametrize("prefix", ["", "train_"])
def test_the_speakers_of_a_text_of_kaldi_without_wav_scp_are_beside_it(prefix: str, folder: Path) -> None:
    for number in range(3):
        tone(folder / "Audio" / f"01-{number}.mp3")
    write(folder / "train" / f"{prefix}text", "01-0  a word\n01-1  a word\n01-2  a word\n")
    write(folder / "train" / f"{prefix}utt2spk", "01-0 ann\n01-1\tbob\n01-2 01-2\n")
    assert {row["speaker"] for row in imported(folder).all_rows} == {"ann", "bob", ""}


def test_texts_in_files_of_one_line_that_name_other_recordings_are_no_tables(tmp_path: Path) -> None:
    for number, said in (("1", "that is 2"), ("2", "3 it is"), ("3", "no 1")):
        tone(tmp_path / "wav" / f"{number}.wav")
        write(tmp_path / "txt" / f"{number}.txt", said)
    assert format_of(tmp_path, Choices()) == "folder"


def test_names_that_rows_of_several_speakers_have_are_of_none_of_them(folder: Path) -> None:
    for name in ("ann/1", "ann/2", "bob/3"):
        tone(folder / f"{name}.wav")
    write(folder / "all.csv", "file,speaker,text\n1,ann,one\n2,ann,two\n1,bob,uno\n2,bob,dos\n3,bob,tres\n")
    done = imported(folder)
    assert done.transcripts == {"3.wav": "tres"}
    assert set(done.left_out.values()) == {"several rows of this name with other texts, and no folder"}


@pytest.mark.parametrize("name", ["user_ids", "original_speaker_id"])
def test_other_names_of_the_column_of_speakers(name: str, folder: Path) -> None:
    tone(folder / "a.wav")
    write(folder / "transcripts.csv", f"id,path,{name},transcript\n1,a.wav,ann,a word\n")
    assert [row["speaker"] for row in imported(folder).all_rows] == ["ann"]
