"""Folders that hold nothing but the folder of a corpus, as unpacked archives do, or also that of an imported one."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import Import, read, tone, write

from deepspeech.cli.importing.corpus import main
from deepspeech.util.importing import format_of
from deepspeech.util.importing.formats import librispeech
from deepspeech.util.importing.pipeline.records import SETS, Choices, Record


def imported(name: str, folder: Path) -> Import:
    assert format_of(folder, Choices()) == name
    return Import(name, folder, folder.with_name("out"))


def test_a_language_of_multilingual_librispeech_may_be_alone_in_a_folder(tmp_path: Path) -> None:
    language = tmp_path / "corpus" / "mls_italian"
    write(tmp_path / "corpus" / "README.txt", "About")
    for number, part in enumerate(SETS):
        name = f"{number}_8_000000"
        tone(language / part / "audio" / str(number) / "8" / f"{name}.flac")
        write(language / part / "transcripts.txt", f"{name}\tuna parola\n")
        write(language / part / "segments.txt", f"{name}\thttps://host/a.mp3\t0.0\t1.0\n")
    done = imported("mls", tmp_path / "corpus")
    assert [(row["transcript"], row["speaker"]) for row in done.all_rows] == [
        ("una parola", speaker) for speaker in "012"
    ]


def test_a_corpus_may_be_right_below_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "corpus" / "all.trans.txt", "1 A WORD\n")
    monkeypatch.chdir(tmp_path)  # in place of /corpus, as a container has it
    (record,) = librispeech.read_records(Path("corpus"), Choices())
    assert isinstance(record, Record) and record.transcript == "a word"


def test_common_voice_without_sets_is_read_without_its_invalidated_clips(tmp_path: Path) -> None:
    language = tmp_path / "corpus" / "cv-corpus-21.0-delta" / "ta"
    for number, table in enumerate(("validated", "invalidated")):
        tone(language / "clips" / f"{number}.mp3")
        write(language / f"{table}.tsv", f"client_id\tpath\tsentence\nc{number}\t{number}.mp3\ta word\n")
    assert imported("common_voice", tmp_path / "corpus").transcripts == {"0.mp3": "a word"}


def test_a_list_of_all_rows_beside_those_of_sets_is_not_read(tmp_path: Path) -> None:
    for part in ("shuf", "train", "val"):
        tone(tmp_path / "corpus" / "wavs" / f"{part}.wav")
        write(tmp_path / "corpus" / f"metadata_{part}.csv", f"{part}|ein Wort\n")
    write(tmp_path / "corpus" / "metadata_shuf.csv", "train|ein Wort\nval|ein Wort\n")
    done = imported("ljspeech", tmp_path / "corpus")
    assert [len(done.rows(part)) for part in SETS] == [1, 1, 0]


def test_folders_of_sets_may_be_in_the_only_folder(tmp_path: Path) -> None:
    for part in SETS:
        tone(tmp_path / "corpus" / "USC" / part / "7" / f"{part}.wav")
        write(tmp_path / "corpus" / "USC" / part / "7" / f"{part}.txt", "a word")
    assert imported("folder", tmp_path / "corpus").sets == {part: {f"{part}.wav"} for part in SETS}


def test_what_was_imported_to_below_the_recordings_is_not_read_when_there_are_more(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "source" / "corpus"
    for names in ("abcd", "efgh"):
        for name in names:
            tone(source / f"{name}.wav")
            write(source / f"{name}.txt", name)
        assert main(["auto", "--from", str(source), "--to", str(out)]) == 0
    rows = [row for name in SETS for row in read(out / f"{name}.csv")]
    assert sorted(row["transcript"] for row in rows) == [*"abcdefgh"]


def test_a_table_is_read_again_if_its_corpus_is_below_its_folder(tmp_path: Path) -> None:
    lines = "file,text\n"
    for names in ("abcd", "efgh"):
        for name in names:
            tone(tmp_path / f"{name}.wav")
            lines += f"{name}.wav,{name} it is\n"
        write(tmp_path / "words.csv", lines)
        done = Import("table", tmp_path, tmp_path / "corpus")
    assert sorted(done.transcripts) == [f"{name}.wav" for name in "abcdefgh"]


@pytest.mark.parametrize("name", ["lhotse", "gigaspeech", "an4", "arabic_speech_commands"])
def test_a_corpus_may_be_alone_in_a_folder_with_notes_and_its_archive(name: str, tmp_path: Path) -> None:
    files = {
        "lhotse": {
            "recordings.jsonl": '{"id": "a", "duration": 1, "sources": '
            '[{"type": "file", "channels": [0], "source": "a.wav"}]}',
            "supervisions.jsonl": '{"recording_id": "a", "start": 0, "duration": 1, "channel": 0, "text": "yes"}',
        },
        "gigaspeech": {
            "WenetSpeech.json": '{"audios": [{"path": "a.wav", "segments": '
            '[{"begin_time": 0, "end_time": 1, "text": "yes"}]}]}'
        },
        "an4": {"etc/all.fileids": "../a\n", "etc/all.transcription": "YES (a)\n"},
        "arabic_speech_commands": {"train.csv": "file,class\na.wav,yes\n"},
    }[name]
    for beside in ("README.md", "corpus.tar.gz", "corpus.tar.gz.md5", "Thumbs.db"):
        write(tmp_path / "download" / beside, "About")
    for path, text in files.items():
        write(tmp_path / "download" / "corpus-1.0" / path, text)
    tone(tmp_path / "download" / "corpus-1.0" / "a.wav", 2)
    (tmp_path / "download" / "corpus-1.0" / "wav").mkdir()
    assert list(imported(name, tmp_path / "download").transcripts.values()) == ["yes"]


def test_recordings_that_were_converted_since_the_corpus_was_published_are_taken_by_their_names(tmp_path: Path) -> None:
    files = {
        "common_voice": ("ta/clips/a.wav", {"ta/validated.tsv": "client_id\tpath\tsentence\nx\ta.mp3\tyes\n"}),
        "fleurs": ("ta/audio/train/a.flac", {"ta/train.tsv": "7\ta.wav\tYes.\tyes\ty e s\t8000\tMALE\n"}),
        "librispeech": ("train/1/2/1-2-3.FLAC", {"train/1/2/1-2.trans.txt": "1-2-3 YES\n"}),
        "thchs30": ("train/A2_0.flac", {"train/A2_0.wav.trn": "绿 是\nlv4 shi4\n"}),
    }
    for name, (recording, texts) in files.items():
        source = tmp_path / name / "corpus"
        for path, text in texts.items():
            write(source / path, text)
        tone(source / recording)
        assert len(imported(name, source).all_rows) == 1, name


@pytest.mark.parametrize("name", ["aishell", "an4", "json_lines", "lhotse", "lists", "speech_commands"])
def test_files_of_macos_beside_those_of_the_corpus_are_none_of_it(name: str, tmp_path: Path) -> None:
    lists = {
        "aishell": {"transcript/a.txt": "a 绿\n"},
        "an4": {"etc/all.fileids": "a\n", "etc/all.transcription": "YES (a)\n"},
        "json_lines": {"all.jsonl": '{"audio_filepath": "wav/a.wav", "text": "yes"}\n'},
        "lhotse": {
            "recordings.jsonl": '{"id": "a", "duration": 1, "sources": '
            '[{"type": "file", "channels": [0], "source": "wav/a.wav"}]}',
            "supervisions.jsonl": '{"recording_id": "a", "start": 0, "duration": 1, "channel": 0, "text": "yes"}',
        },
        "lists": {"all.csv": "wav_filename,wav_filesize,transcript\nwav/a.wav,0,yes\n"},
        "speech_commands": {"testing_list.txt": "wav/b.wav\n"},
    }[name]
    for path in ("wav/a.wav", *lists):
        write((tmp_path / "corpus" / path).with_name(f"._{Path(path).name}"), b"\0\5\x16\7\xff\xfe")
    for path, text in lists.items():
        write(tmp_path / "corpus" / path, text)
    tone(tmp_path / "corpus" / "wav" / "a.wav")
    done = Import(name, tmp_path / "corpus", tmp_path / "out")
    assert (list(done.transcripts), done.left_out) == (["a.wav"], {})
