"""Corpora in their published layouts, each a small tree with the difficulties of the real one."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.errors import ImportingError
from deepspeech.util.importing import MODULES, descriptions, import_corpus
from deepspeech.util.importing.formats.published.an4_digits import LIST
from deepspeech.util.importing.pipeline.records import Choices

ALL_TRAIN = Choices(split=(1, 0, 0))
COMMON_VOICE = "client_id\tpath\tsentence\tup_votes\tage\tlocale\n"


def test_every_format_says_what_it_reads_and_refuses_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert all(descriptions().values())
    for name in [name for name, module in MODULES.items() if module.startswith("formats.")]:
        with pytest.raises(ImportingError, match=str(tmp_path / "empty")):
            import_corpus(name, tmp_path / "out", tmp_path / "empty")
        with pytest.raises(ImportingError, match="no folder"):
            import_corpus(name, tmp_path / "out", tmp_path / "none")
        with pytest.raises(ImportingError, match="with --from"):
            import_corpus(name, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_common_voice_takes_quotes_as_they_are_and_names_missing_clips(tmp_path: Path) -> None:
    source = tmp_path / "fr"
    tone(source / "clips" / "a.mp3")
    rows = ['x\ta.mp3\t"Salut", dit-elle\t2\ttwenties\tfr', "x\tlost.mp3\tOui\t2\t\tfr", "y\ta.mp3\t\t2\t\tfr", "y\ta"]
    rows.append("y\ta.mp3\tOui\tet non\t2\ttwenties\tfr")
    write(source / "validated.tsv", b"\xef\xbb\xbf" + (COMMON_VOICE + "\n".join(rows)).replace("\n", "\r\n").encode())
    done = Import("common_voice", tmp_path, tmp_path / "out", ALL_TRAIN)
    (row,) = done.all_rows
    assert (row["transcript"], row["speaker"], row["age"], row["locale"]) == (
        '"Salut", dit-elle',
        "x",
        "twenties",
        "fr",
    )
    assert float(row["duration"]) == pytest.approx(0.5, abs=0.15)  # an mp3 ends with the encoder's padding
    empty = "empty transcript"
    assert done.left_out == {
        "validated.tsv:3": "No such file or directory",
        "validated.tsv:4": empty,
        "validated.tsv:5": empty,
        "validated.tsv:6": "more fields than the header has columns",
    }


def test_common_voice_has_sets_of_its_own_unless_a_split_is_asked_for(tmp_path: Path) -> None:
    names = {"train": "a", "dev": "b", "test": "c"}
    for name, clip in names.items():
        tone(tmp_path / "clips" / f"{clip}.mp3")
        write(tmp_path / f"{name}.tsv", f"{COMMON_VOICE}{clip}\t{clip}.mp3\tyes\t2\t\ten\n")
    every = "".join(f"{clip}\t{clip}.mp3\tyes\t2\t\ten\n" for clip in names.values())
    write(tmp_path / "validated.tsv", COMMON_VOICE + every)
    official = Import("common_voice", tmp_path, tmp_path / "out")
    assert official.sets == {name: {f"{clip}.mp3"} for name, clip in names.items()}
    assert len(Import("common_voice", tmp_path, tmp_path / "one", ALL_TRAIN).rows("train")) == 3


def test_common_voice_reads_the_largest_table_of_a_set_that_has_no_other(tmp_path: Path) -> None:
    rows = [f"s{number}\t{tone(tmp_path / 'clips' / f'{number}.flac').name}\tJa.\n" for number in range(3)]
    for name, few in (("train_0.9", rows[:1]), ("train_all", rows[:2]), ("test", rows[2:])):
        write(tmp_path / f"{name}.tsv", "".join(("client_id\tpath\tsentence\n", *few)))
    done = Import("common_voice", tmp_path, tmp_path / "out")
    assert (len(done.rows("train")) + len(done.rows("dev")), done.sets["test"]) == (2, {"2.flac"})


def test_a_table_without_a_column_or_that_is_not_utf_8_is_one_line(tmp_path: Path) -> None:
    write(tmp_path / "validated.tsv", "path\tsentence\n")
    with pytest.raises(ImportingError, match=r"validated\.tsv:1: no column client_id; found: path, sentence"):
        Import("common_voice", tmp_path, tmp_path / "out")
    write(tmp_path / "validated.tsv", COMMON_VOICE.encode() + b"x\ta.mp3\t\xff\n")
    with pytest.raises(ImportingError, match=r"validated\.tsv:2: not UTF-8"):
        Import("common_voice", tmp_path, tmp_path / "out")


def test_librispeech_has_the_sets_of_its_folders_and_takes_the_missing_one_from_train(tmp_path: Path) -> None:
    for subset, speakers in (("train-clean-5", (19, 20, 21)), ("dev-clean-2", (30,))):
        for speaker in speakers:
            chapter = tmp_path / "LibriSpeech" / subset / str(speaker) / "7"
            tone(chapter / f"{speaker}-7-0000.{'opus' if speaker == 20 else 'flac'}")
            write(chapter / f"{speaker}-7.trans.txt", f"{speaker}-7-0000 A WORD\n")
    done = Import("librispeech", tmp_path, tmp_path / "out")
    assert done.sets["dev"] == {"30-7-0000.flac"}
    assert len(done.sets["train"]) == 2 and len(done.sets["test"]) == 1
    assert {row["transcript"] for row in done.all_rows} == {"a word"}
    assert {row["subset"] for row in done.rows("test")} == {"train-clean-5"}
    assert done.news[:2] == [
        "sets of the corpus itself: train, dev",
        "test taken from train by speaker (3 speakers; no speaker is in two of these sets)",
    ]


def test_librispeech_knows_speakers_by_the_names_of_files(tmp_path: Path) -> None:
    for speaker in ("101", "102"):
        folder = tmp_path / "train_data_01" / "003" / speaker
        tone(folder / f"{speaker}_003_0001.flac")
        write(folder / f"{speaker}_003.trans.txt", f"{speaker}_003_0001 말\n")
    done = Import("librispeech", tmp_path, tmp_path / "out", Choices(split=(1, 0, 0)))
    assert {row["speaker"] for row in done.all_rows} == {"101", "102"}


def test_an4_reads_its_lists_side_by_side(tmp_path: Path) -> None:
    for name in ("ann/one", "ann/two", "bob/one"):
        tone(tmp_path / "wav" / "an4" / f"{name}.wav")
    write(tmp_path / "etc" / "an4_train.fileids", "an4/ann/one\nan4/ann/two\n")
    write(tmp_path / "etc" / "an4_train.transcription", "<s> YES I DO(2) </s> (one)\n<s> NO </s> (three)\n")
    write(tmp_path / "etc" / "an4_test.fileids", "an4/bob/one\n")
    write(tmp_path / "etc" / "an4_test.transcription", "GO (one)\n")
    done = Import("an4", tmp_path, tmp_path / "out")
    assert [(row["transcript"], row["speaker"]) for row in done.all_rows] == [("yes i do", "ann"), ("go", "bob")]
    assert done.left_out == {"an4_train.transcription:2": "a transcript of another recording than its line of fileids"}
    write(tmp_path / "etc" / "an4_test.transcription", "")
    with pytest.raises(ImportingError, match="same number of lines"):
        Import("an4", tmp_path, tmp_path / "out")


def test_digits_of_an4_are_parts_of_its_recordings_and_rare_ones_stand_there_again(tmp_path: Path) -> None:
    for name in ("an4_clstk/fash/an255-fash-b", "an4_clstk/fash/cen7-fash-b"):
        tone(tmp_path / "wav" / f"{name}.wav", seconds=4)
    done = Import("an4_digits", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert {row["speaker"] for row in done.all_rows} == {"fash"}
    said = {(Path(row["wav_filename"]).parent.name, row["transcript"]) for row in done.all_rows}
    assert said == {
        ("an255-fash-b.wav", "six"),
        *(("cen7-fash-b.wav", digit) for digit in ("eight", "four", "one", "six", "two")),
    }
    assert set(done.left_out.values()) == {"No such file or directory"}
    with LIST.open(encoding="utf-8", newline="") as file:
        listed = [tuple(row.values()) for row in csv.DictReader(file)]
    assert set(Counter(row[1] for row in listed).values()) == {120}
    assert {row[1] for row, times in Counter(listed).items() if times > 1} == {"nine", "zero"}


def test_speech_commands_has_the_sets_of_its_lists(tmp_path: Path) -> None:
    for name in ("yes/a_nohash_0", "yes/b_nohash_0", "no/a_nohash_0", "no/c_nohash_1", "_background_noise_/hum"):
        tone(tmp_path / f"{name}.wav")
    write(tmp_path / "validation_list.txt", "yes/b_nohash_0.wav\n")
    write(tmp_path / "testing_list.txt", "no/c_nohash_1.flac\n")
    done = Import("speech_commands", tmp_path, tmp_path / "out")
    assert done.news[0] == "sets of the corpus itself: train, dev, test"
    assert [(row["transcript"], row["speaker"]) for row in done.rows("train")] == [("no", "a"), ("yes", "a")]
    assert [row["transcript"] for row in done.rows("dev") + done.rows("test")] == ["yes", "no"]


def test_a_folder_for_each_word_has_no_speakers_where_names_do_not_tell_them(tmp_path: Path) -> None:
    for name in ("yes/anna_1", "yes/anna_2", "no/anna_1", "no/ben_1"):
        tone(tmp_path / f"{name}.wav")
    done = Import("speech_commands", tmp_path, tmp_path / "out")
    assert [row["speaker"] for row in done.all_rows] == [""] * 4
    assert "no speaker is known, so a speaker can be in several sets" in "\n".join(done.news)


def test_arabic_speech_commands_are_written_in_arabic(tmp_path: Path) -> None:
    for speaker in (1, 2, 3):
        tone(tmp_path / "dataset" / "yes" / f"{speaker:08d}_NO_01.wav")
    write(tmp_path / "train.csv", "file,class\ndataset/yes/00000001_NO_01.wav,yes\ndataset/yes/00000002_NO_01.wav,on\n")
    write(tmp_path / "val.csv", "file,class\ndataset/yes/00000003_NO_01.wav,yes\n")
    write(tmp_path / "keywords.tsv", "yes\tنعم\n")
    done = Import("arabic_speech_commands", tmp_path, tmp_path / "out")
    assert [(row["transcript"], row["speaker"], row["class"]) for row in done.rows("dev")] == [
        ("نعم", "00000003", "yes")
    ]
    assert done.left_out == {"train.csv:3": "a class that keywords.tsv lacks"}


@pytest.mark.parametrize("transcript", ["transcript.txt", "transcript/aishell_transcript_v0.8.txt"])
def test_aishell_loses_the_spaces_between_words(transcript: str, tmp_path: Path) -> None:
    for name in ("train/S1/W1", "train/S1/W2", "dev/S2/W3", "test/S3/W4"):
        tone(tmp_path / "wav" / f"{name}.wav")
    write(tmp_path / transcript, "W1 而 对 楼市\nW3 成交\nW4 抑制\n")
    done = Import("aishell", tmp_path, tmp_path / "out")
    assert done.transcripts == {"W1.wav": "而对楼市", "W3.wav": "成交", "W4.wav": "抑制"}
    assert [row["speaker"] for row in done.all_rows] == ["S1", "S2", "S3"]
    assert done.left_out == {"wav/train/S1/W2.wav": "no transcript"}


def test_thchs30_follows_the_links_of_its_sets(tmp_path: Path) -> None:
    for name, recording in (("train", "A2_0"), ("dev", "B4_1"), ("test", "C6_2"), ("train", "A2_1"), ("train", "A2_2")):
        tone(tmp_path / name / f"{recording}.wav")
        write(tmp_path / name / f"{recording}.wav.trn", f"../data/{recording}.wav.trn\n")
    for recording in ("A2_0", "B4_1", "C6_2"):
        write(tmp_path / "data" / f"{recording}.wav.trn", "绿 是 阳春\nlv4 shi4 yang2 chun1\nl v4 sh ix4\n")
    write(tmp_path / "data" / "A2_2.wav.trn", "A2_2.wav.trn")  # a link to itself
    done = Import("thchs30", tmp_path, tmp_path / "out")
    assert done.sets == {"train": {"A2_0.wav"}, "dev": {"B4_1.wav"}, "test": {"C6_2.wav"}}
    row = done.rows("train")[0]
    assert (row["transcript"], row["pinyin"], row["speaker"]) == ("绿是阳春", "lv4 shi4 yang2 chun1", "A2")
    assert set(done.left_out) == {"train/A2_1.wav", "train/A2_2.wav"}


def test_voxforge_reads_the_prompts_of_each_submission(tmp_path: Path) -> None:
    for submission, prompts in (
        ("ann-20080101-abc", "ann-20080101-abc/mfc/a0001 I AM HERE\nann-20080101-abc/mfc/a0002\n"),
        ("anonymous-20080101-xyz", "*/a0001 Hello there\n"),
        ("bob-20080101-def", b"x/a0001 na\xefve\n"),
    ):
        tone(tmp_path / submission / "wav" / "a0001.wav")
        write(tmp_path / submission / "etc" / "PROMPTS", prompts)
    done = Import("voxforge", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert [(row["transcript"], row["speaker"]) for row in done.all_rows] == [
        ("i am here", "ann"),
        ("Hello there", "anonymous-20080101-xyz"),
    ]
    assert done.left_out == {
        "ann-20080101-abc/PROMPTS:2": "empty transcript",
        "bob-20080101-def/etc/PROMPTS": "its prompts cannot be read",
    }


def test_tedlium_is_cut_at_its_segments(tmp_path: Path) -> None:
    for name, talk in (("train", "Ann_2009"), ("dev", "Bob_2010"), ("test", "Eve_2011")):
        tone(tmp_path / "legacy" / name / "sph" / f"{talk}.sph", 3)
        lines = [
            ";; a comment",
            f"{talk} 1 {talk} 0.00 1.00 <o,f0,female> it 's <unk> the the(2) end",
            f"{talk} 1 inter_segment_gap 1.00 2.00 <o,f0,> ignore_time_segment_in_scoring",
            f"{talk} 1 {talk} 2.00 3.90 <o,f0,female> <unk> last",
            f"{talk} 1 {talk} 2.50",
            f"{talk} 1 {talk} 2.50 2.60 <o,f0,female> <unk>",
        ]
        write(tmp_path / "legacy" / name / "stm" / f"{talk}.stm", "\n".join(lines))
    write(tmp_path / "data" / "stm" / "Ann_2009.stm", "Ann_2009 1 Ann_2009 0 1 <o,f0,male> again")
    done = Import("tedlium", tmp_path, tmp_path / "out")
    for name, speaker in (("train", "Ann_2009"), ("dev", "Bob_2010"), ("test", "Eve_2011")):
        first, last = done.rows(name)
        assert (first["transcript"], first["speaker"], first["duration"]) == ("it's the the end", speaker, "1.000")
        assert (last["transcript"], set(done.samples(last)[0]), last["duration"]) == ("last", {300}, "1.000")
    assert list(done.left_out.values())[:3] == [
        "ignore_time_segment_in_scoring",
        "a malformed line of an .stm",
        "empty transcript",
    ]


@pytest.mark.parametrize(
    "rest",
    [
        "<NA> so it 's new",  # training sets of the third release
        "<F0_M> so it 's new",  # and of the second
        "<o,f0,male> <sil> so it 's(2) <sil> new (Ann_2009-0.00-2.00-F0_M-S1)",  # of the first
        "so it 's <unk> new",
    ],
)
def test_tedlium_of_each_release_has_words_alone_for_transcripts(tmp_path: Path, rest: str) -> None:
    tone(tmp_path / "train" / "sph" / "Ann_2009.sph", 3)
    write(tmp_path / "train" / "stm" / "Ann_2009.stm", f"Ann_2009 1 Ann_2009 0.00 2.00 {rest}")
    (row,) = Import("tedlium", tmp_path, tmp_path.with_name("out"), ALL_TRAIN).all_rows
    assert row["transcript"] == "so it's new"


def test_multilingual_librispeech_has_the_sets_of_its_folders_and_its_speakers(tmp_path: Path) -> None:
    lines = {"train": "12_3_000000\tj'étais là\n12_3_000001\tperdu\n12\tquoi", "dev": "4_5_000000\toui", "test": ""}
    for name, text in lines.items():
        write(tmp_path / name / "transcripts.txt", text)
    tone(tmp_path / "train/audio/12/3/12_3_000000.flac")
    tone(tmp_path / "dev/audio/4/5/4_5_000000.opus", rate=16000)
    done = Import("mls", tmp_path, tmp_path.with_name("out"))
    assert done.transcripts == {"12_3_000000.flac": "j'étais là", "4_5_000000.opus": "oui"}
    assert {(row["speaker"], row["book"]) for row in done.all_rows} == {("12", "3"), ("4", "5")}
    assert done.sets["dev"] == {"4_5_000000.opus"}
    assert done.left_out == {
        "train/transcripts.txt:2": "No such file or directory",
        "train/transcripts.txt:3": "not SPEAKER_BOOK_NUMBER, a tab and a transcript",
    }
    assert len(Import("mls", tmp_path / "dev", tmp_path.with_name("dev_alone")).rows("dev")) == 1


@pytest.mark.parametrize("folder", ["audio/train", "train"])
def test_fleurs_takes_the_sentence_without_punctuation(tmp_path: Path, folder: str) -> None:
    rows = ['7\t70.wav\t"Hola", dijo.\thola dijo\th o l a | d i j o |\t8000\tFEMALE', "8\t80.wav\tSí.\tsí", "9\t90.wav"]
    write(tmp_path / "train.tsv", "\n".join(rows))
    with pytest.raises(ImportingError, match=r"unpack audio/train\.tar\.gz"):
        Import("fleurs", tmp_path, tmp_path.with_name("none"))
    tone(tmp_path / folder / "70.wav")
    done = Import("fleurs", tmp_path, tmp_path.with_name("out"), ALL_TRAIN)
    (row,) = done.all_rows
    assert (row["transcript"], row["written"], row["gender"]) == ("hola dijo", '"Hola", dijo.', "female")
    assert set(done.left_out.values()) == {"not 7 fields, which FLEURS has"}


def test_fleurs_loses_the_spaces_between_characters_of_scripts_that_have_none(tmp_path: Path) -> None:
    sentences = {"a": "这 是 mp3 在 2 月", "b": "ฉัน ไป โรงเรียน", "c": "e o a"}
    for name in sentences:
        tone(tmp_path / "train" / f"{name}.wav")
    rows = [f"1\t{name}.wav\t\t{sentence}\t\t8000\tMALE" for name, sentence in sentences.items()]
    write(tmp_path / "train.tsv", "\n".join(rows))
    done = Import("fleurs", tmp_path, tmp_path.with_name("out"), ALL_TRAIN)
    assert done.transcripts == {"a.wav": "这是 mp3 在 2 月", "b.wav": "ฉัน ไป โรงเรียน", "c.wav": "e o a"}
