"""Importing a corpus by its name alone, without further knowledge of it."""

from __future__ import annotations

import csv
import logging
from collections.abc import Mapping
from pathlib import Path

import pytest
from running import write_wav
from trees import write

from deepspeech.cli.importing.corpus import main
from deepspeech.util.errors import CorpusError, ImportingError
from deepspeech.util.files.packaged_data import DATA
from deepspeech.util.importing import MODULES, TRIED, format_of, import_corpus, read_items
from deepspeech.util.importing.corpus_csv import is_whole
from deepspeech.util.importing.demo import make_corpus
from deepspeech.util.importing.pipeline.records import Choices

LAYOUTS: Mapping[str, Mapping[str, str]] = {
    "arabic_speech_commands": {"train.csv": "file,class\ndataset/yes/a.wav,yes\n"},
    "aishell": {"transcript.txt": "W1 而 对\n", "wav/train/S1/W1.wav": ""},
    "an4": {
        "etc/an4_train.fileids": "an4/ann/one\n",
        "etc/an4_train.transcription": "<s> YES </s> (one)\n",
        "wav/an4/ann/one.wav": "",
    },
    "audio_folder": {"train/metadata.csv": "file_name,transcription\na.wav,yes\n"},
    "common_voice": {f"{name}.tsv": "client_id\tpath\tsentence\nx\ta.mp3\tYes.\n" for name in ("validated", "train")},
    "fleurs": {"train.tsv": "7\t7.wav\tYes.\tyes\ty e s\t8000\tMALE\n", "audio/train/7.wav": ""},
    "fsdd": {"7_ann_0.wav": "", "7_ann_12.wav": ""},
    "folder": {"ann/a.wav": "", "ann/a.txt": "yes\n", "notes.csv": "day,weather\n1,rain\n"},
    "gigaspeech": {
        "WenetSpeech.json": '{"audios": [{"path": "a", "segments": [{"begin_time": 0, "end_time": 1, "text": "是"}]}]}'
    },
    "json_lines": {"train/data.list": '{"key": "a", "wav": "a.wav", "txt": "yes"}\n'},
    "kaldi": {"train/wav.scp": "u1 a.wav\n", "train/text": "u1 yes\n"},
    "lhotse": {
        "recordings.jsonl": '{"id": "a", "duration": 1, "sources": [{"type": "file", "channels": [0], "source": "a"}]}',
        "supervisions.jsonl": '{"recording_id": "a", "start": 0, "duration": 1, "channel": 0, "text": "yes"}',
    },
    "librispeech": {"dev-clean/19/7/19-7.trans.txt": "19-7-0000 YES\n", "SPEAKERS.TXT": "19 | F\n"},
    "libritts": {"dev-clean/84/1/84_1_0_0.wav": "", "dev-clean/84/1/84_1_0_0.normalized.txt": "Yes.\n"},
    "ksponspeech": {"scripts/train.trn": "K_01/K1.pcm :: 예\n", "K_01/K1.pcm": ""},
    "lists": {"all.tsv": "path\tsentence\na.wav\tyes\n", "a.txt": "yes\n"},
    "ljspeech": {"metadata.csv": "LJ1|Mr. A|mister a\n", "wavs/LJ1.wav": ""},
    "mgb": {"xml/a.xml": '<segments><segment starttime="0" endtime="1"/></segments>', "wav/a.wav": ""},
    "mls": {"train/transcripts.txt": "12_3_000000\toui\n"},
    "nchlt": {"transcriptions/a.trn.xml": '<corpus><recording audio="a/b.wav"><orth>yebo</orth></recording></corpus>'},
    "parallel_lines": {"train.tsv": "/audio\na.wav\t8000\n", "train.wrd": "YES\n", "audio/a.wav": ""},
    "table": {"words.csv": "file,text\na.wav,yes\n", "wav/a.wav": ""},
    "tedlium": {"train/stm/ann.stm": "ann 1 ann 0.00 2.00 <NA> yes\n"},
    "thchs30": {
        "train/A2_0.wav": "",
        "train/A2_0.wav.trn": "../data/A2_0.wav.trn",
        "data/A2_0.wav.trn": "绿\nlv4\nl v4\n",
    },
    "timit": {"TRAIN/DR1/FCJF0/SX37.WAV": "", "TRAIN/DR1/FCJF0/SX37.TXT": "0 4000 Yes.\n"},
    "tuda_de": {"a_Samson.wav": "", "a.xml": "<r><cleaned_sentence>ja</cleaned_sentence></r>"},
    "vctk": {"wav48/p225/p225_001.wav": "", "txt/p225/p225_001.txt": "Yes.\n"},
    "yesno": {"0_1_1_0_0_0_1_1.wav": ""},
    "voxforge": {"ann-1-a/etc/PROMPTS": "ann-1-a/mfc/a1 YES\n"},
}


def transcripts(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return [row["transcript"] for row in csv.DictReader(file)]


@pytest.fixture
def digits(tmp_path: Path) -> Path:
    for take in (0, 5, 10):
        write_wav(tmp_path / "digits" / f"7_ann_{take}.wav")
    return tmp_path / "digits"


def test_a_corpus_known_by_its_name_becomes_three_csvs(digits: Path, tmp_path: Path) -> None:
    news: list[str] = []
    assert digits.parent == tmp_path  # an archive's root is accepted, like the folder of its recordings
    import_corpus("fsdd", tmp_path / "out", digits.parent, news.append)
    for name in ("train", "dev", "test"):
        assert transcripts(tmp_path / "out" / f"{name}.csv") == ["seven"]
        assert is_whole(tmp_path / "out" / f"{name}.csv")
    assert news[1:4] == [f"{tmp_path / 'out' / name}.csv: 1 utterance, 0 s" for name in ("train", "dev", "test")]


@pytest.mark.parametrize(
    ("choices", "flag"),
    [(Choices(split=(50, 25, 25)), "--split"), (Choices(seed=7), "--seed"), (Choices(tiers=("words",)), "--tier")],
)
def test_a_corpus_that_is_always_divided_alike_refuses_another_division(
    choices: Choices, flag: str, digits: Path, tmp_path: Path
) -> None:
    with pytest.raises(ImportingError, match=f"ldc93s1 is always divided .*; leave out {flag}$"):
        import_corpus("ldc93s1", tmp_path / "out", digits, choices=choices)
    assert not (tmp_path / "out").exists()


def test_news_go_to_stderr_unless_the_caller_wants_them(
    digits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_corpus("fsdd", tmp_path / "out", digits)
    assert capsys.readouterr().out == ""
    import_corpus("fsdd", tmp_path / "out", digits, lambda _: None)
    assert capsys.readouterr() == ("", "")


def test_a_corpus_that_is_there_whole_is_not_fetched_again(digits: Path, tmp_path: Path) -> None:
    import_corpus("fsdd", tmp_path / "out", digits)
    before = (tmp_path / "out" / "train.csv").stat().st_mtime_ns
    import_corpus("fsdd", tmp_path / "out")
    assert (tmp_path / "out" / "train.csv").stat().st_mtime_ns == before


def test_the_sample_of_timit_is_one_csv(tmp_path: Path) -> None:
    write_wav(tmp_path / "sample" / "LDC93S1.wav")
    (tmp_path / "sample" / "LDC93S1.txt").write_text("0 800 She had.\n")
    import_corpus("ldc93s1", tmp_path / "out", tmp_path / "sample")
    assert transcripts(tmp_path / "out" / "ldc93s1.csv") == ["she had"]


def test_a_corpus_whose_csv_is_damaged_is_not_taken_for_whole(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text('wav_filename,wav_filesize,transcript\na.wav,1,"' + 50_000 * "x y\n")
    with pytest.raises(ImportingError, match="name the folder of its recordings with --from"):
        import_corpus("folder", tmp_path)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("0 800 नमस्ते, दुनिया।", "नमस्ते दुनिया"),
        ("0 800 สวัสดีครับ", "สวัสดีครับ"),
        ("0 800 Don\u2019t \u201cSTOP\u201d, cafe\u0301", "don't stop café"),
        ("\ufeff0 800 She had.\r\n", "she had"),
    ],
)
def test_a_recording_of_any_language_keeps_the_marks_of_its_letters(tmp_path: Path, written: str, text: str) -> None:
    write_wav(tmp_path / "LDC93S1.wav")
    (tmp_path / "LDC93S1.txt").write_bytes(written.encode())
    import_corpus("ldc93s1", tmp_path / "out", tmp_path)
    assert transcripts(tmp_path / "out" / "ldc93s1.csv") == [text]


@pytest.mark.parametrize("missing", ["LDC93S1.wav", "LDC93S1.txt"])
def test_half_of_the_sample_of_timit_is_named(missing: str, tmp_path: Path) -> None:
    for name in {"LDC93S1.wav", "LDC93S1.txt"} - {missing}:
        (tmp_path / name).touch()
    with pytest.raises(ImportingError, match=str(tmp_path / missing)):
        import_corpus("ldc93s1", tmp_path / "out", tmp_path)


def test_a_transcript_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    write_wav(tmp_path / "LDC93S1.wav")
    (tmp_path / "LDC93S1.txt").write_bytes(b"0 800 \xff\xfe")
    with pytest.raises(ImportingError, match=r"LDC93S1\.txt is not UTF-8"):
        import_corpus("ldc93s1", tmp_path / "out", tmp_path)


def test_what_a_corpus_cannot_be_made_of_is_said(tmp_path: Path) -> None:
    with pytest.raises(ImportingError, match="name the folder of LDC93S1"):
        import_corpus("ldc93s1", tmp_path / "out")
    with pytest.raises(ImportingError, match="synthesized"):
        import_corpus("demo", tmp_path / "out", tmp_path)
    assert not (tmp_path / "out").exists()


def test_an_unknown_name_is_told_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ImportingError, match=f"no corpus 'switchboard'; there are {', '.join(sorted(MODULES))}"):
        import_corpus("switchboard", tmp_path / "out")
    assert {"demo", "fsdd", "ldc93s1", "yesno"} <= set(MODULES)


def test_a_folder_that_cannot_be_written_is_an_error_of_ours(digits: Path, tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.touch()
    with pytest.raises(ImportingError, match=f"the corpus demo cannot be imported into {file}: {file}: "):
        import_corpus("demo", file)
    with pytest.raises(ImportingError, match=f"^{file} is not a folder; name another folder .* with --to"):
        import_corpus("folder", file / "below", digits)


def test_a_synthesized_corpus_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    news: list[str] = []
    for _ in range(2):
        make_corpus(tmp_path / "out", news.append, sizes={"train": 3, "dev": 1, "test": 2})
    assert news == [
        f"{tmp_path / 'out'}: 3 train, 1 dev and 2 test utterances",
        f"{tmp_path / 'out'} already holds this corpus",
    ]
    with pytest.raises(ImportingError, match="at least 1"):
        make_corpus(tmp_path / "out", news.append, sizes={"train": 3, "dev": 0, "test": 2})


def test_the_data_of_the_corpora_are_found() -> None:
    assert (DATA / "demo" / "grammar.txt").is_file()
    for name in ("demo", "digits", "yesno"):
        assert (DATA / "lm" / f"{name}.arpa").is_file()


@pytest.mark.parametrize("around", ["", "unpacked"])
@pytest.mark.parametrize("name", [name for name in TRIED if name != "parquet"])  # its tests find it, too
def test_the_format_of_a_folder_is_found_by_its_files_wherever_it_is(name: str, around: str, tmp_path: Path) -> None:
    assert name in LAYOUTS, f"add the smallest folder of {name} to LAYOUTS"
    for path, text in LAYOUTS[name].items():
        write(tmp_path / around / path, text)
    assert format_of(tmp_path, Choices()) == name, "a format that is not looked for below its folder is _AT_THE_TOP"


@pytest.mark.parametrize("folders", [("train", "Validation", "test_clean"), ("ann", "val", "tests")])
def test_folders_of_recordings_are_sets_if_one_is_to_train_on(folders: tuple[str, ...], tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    for number, folder in enumerate((*folders, *folders, *folders)):
        write_wav(source / folder / "a" / f"{number}.wav")
        write(source / folder / "a" / f"{number}.txt", folder)
    import_corpus("folder", out, source, lambda _: None)
    sets = [set(transcripts(out / f"{name}.csv")) for name in ("train", "dev", "test")]
    assert (sets == [{folder} for folder in folders]) == (folders[0] == "train")


def test_the_command_finds_the_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    write_wav(source / "a.wav")
    write(source / "a.txt", "yes")
    assert main(["--from", str(source), "--to", str(out)]) == 0
    assert transcripts(out / "train.csv") == ["yes"]
    assert main(["auto", "--to", str(out)]) == 1
    assert main(["auto", "--from", str(source / "none"), "--to", str(out)]) == 1
    assert main(["auto", "--from", str(source / "a.wav"), "--to", str(out)]) == 1
    said = capsys.readouterr().err
    advice = "name the folder of the recordings, or their archive\n"
    assert f"--from={source / 'none'}: there is no such folder; {advice}" in said
    assert f"--from={source / 'a.wav'}: not a folder; {advice}" in said
    assert f"{source} has the format folder\n" in said and "auto: needs --from, the folder of the recordings" in said


def test_a_folder_of_no_known_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with pytest.raises(ImportingError, match="has no recordings; their names end in"):
        format_of(tmp_path, Choices())
    write(tmp_path / "train.json", '{"speech": "a.wav", "text": "yes"}')
    unusable = r"lists, but none .* train\.json:1: .*\(no audio_filepath: the keys are speech, text\)"
    with pytest.raises(ImportingError, match=unusable):
        format_of(tmp_path, Choices())
    (tmp_path / "train.json").rename(tmp_path / "train.txt")
    write(tmp_path / "cuts.jsonl", '{"id": "a", "supervisions": [{"text": "yes"}]}\n')
    with pytest.raises(ImportingError, match=r"lhotse, but none .* cuts\.jsonl:1: its recording is in no manifest"):
        format_of(tmp_path, Choices())
    write(tmp_path / "yes" / "a.wav", "")
    with pytest.raises(
        ImportingError, match=r"finds a transcript .* 1\.wav, or .* file and text; `lhotse .* speech_commands$"
    ):
        format_of(tmp_path, Choices())
    write(tmp_path / "train.csv", "file,text\n")
    with pytest.raises(CorpusError, match=r"train\.csv:1: no column wav_filename; found: file, text; .*corpus table"):
        format_of(tmp_path, Choices())


def test_the_folder_of_a_recipe_is_not_said_to_lack_what_is_deeper_in_it(tmp_path: Path) -> None:
    write_wav(tmp_path / "downloads" / "a.wav")
    for folder in (tmp_path / "data" / "train", tmp_path / "dump" / "raw" / "train"):
        write(folder / "wav.scp", "a downloads/a.wav\n")
        write(folder / "text", "a yes\n")
    with pytest.raises(
        ImportingError,
        match=r"no lists, but there is .*data/train/wav\.scp; name .* the folder above it if each set has one",
    ):
        format_of(tmp_path, Choices())
    assert format_of(tmp_path / "data", Choices()) == "kaldi"


def test_a_table_without_a_usable_row_is_refused_for_what_is_wrong_with_its_rows(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav")
    write(tmp_path / "cuts.csv", "file,text,start,end\na.wav,yes,0m02,0m05\n")
    message = r"format table, but none .* cuts\.csv:2: a start.* used \('0m02' is no number of seconds\)"
    with pytest.raises(ImportingError, match=message):
        format_of(tmp_path, Choices())


def test_unusable_transcripts_beside_recordings_are_not_said_to_be_missing(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav")
    write_wav(tmp_path / "b.wav")
    write(tmp_path / "b.txt", "0.1 0.3 yes\n")
    with pytest.raises(ImportingError, match=r"format folder, but none .* as b\.txt: labels with times .* as \.srt"):
        format_of(tmp_path, Choices())


def test_a_folder_is_read_without_the_warnings_of_its_import(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for path, text in {**LAYOUTS["lists"], "notes.csv": "day,weather\n1,rain\n"}.items():
        write(tmp_path / path, text)
    for level in (logging.NOTSET, logging.WARNING):
        with caplog.at_level(level, "deepspeech"):
            assert format_of(tmp_path, Choices()) == "lists"
    assert not caplog.records
    assert list(read_items("lists", tmp_path, Choices()))
    assert ["notes.csv: not read" in record.getMessage() for record in caplog.records] == [True]
