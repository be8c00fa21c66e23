"""Data directories of Kaldi's: where their recordings are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from deepspeech.util.corpus_files import Row, read_files
from deepspeech.util.errors import CorpusError
from deepspeech.util.importing.formats.lists.kaldi import read_records
from deepspeech.util.importing.pipeline.records import Choices, LeftOut, Record


def test_a_directory_below_a_folder_whose_name_is_not_utf_8_is_read(tmp_path: Path) -> None:
    folder = tmp_path / b"caf\xe9".decode("utf-8", "surrogateescape")
    folder.mkdir()
    (folder / "a.wav").touch()
    (folder / "wav.scp").write_text("a a.wav\n")
    (folder / "text").write_text("a hello\n")
    (row,) = read_files([folder], None)
    assert isinstance(row, Row) and (row.path, row.transcript) == (str(folder / "a.wav"), "hello")
    (record,) = read_records(folder, Choices())
    assert isinstance(record, Record) and record.path == str(folder / "a.wav")


def test_recordings_are_found_from_the_folder_of_the_recipe_that_made_the_directory(tmp_path: Path) -> None:
    data, downloads = tmp_path / "s5" / "data" / "train", tmp_path / "s5" / "downloads"
    for folder in (data, downloads):
        folder.mkdir(parents=True)
    (downloads / "a.wav").touch()
    (data / "wav.scp").write_text("a downloads/a.wav\nb downloads/b.wav\n")
    (data / "text").write_text("a hello\nb world\n")
    rows = [row for row in read_files([data], None) if isinstance(row, Row)]
    assert [row.path for row in rows] == [str(downloads / "a.wav"), str(data / "downloads" / "b.wav")]


@pytest.mark.parametrize(
    "command",
    [
        "flac -c -d -s a.flac |",
        "flac  -cdf a.flac |",
        "/opt/kaldi/tools/sph2pipe_v2.5/sph2pipe -f wav -p a.flac|",
        "sox a.flac -t wav -r 8k -b 16 -c 1 - |",
        "ffmpeg -i a.flac -f wav -ar 16000 -ab 16 - |",
        "ffmpeg -nostdin -v error -i a.flac -f wav pipe:1 |",
        "cat a.flac |",
    ],
)
def test_a_command_that_only_decodes_a_file_stands_for_it(command: str, tmp_path: Path) -> None:
    (tmp_path / "a.flac").touch()
    (tmp_path / "wav.scp").write_text(f"a {command}\n")
    (tmp_path / "text").write_text("a hello\n")
    (row,) = read_files([tmp_path], None)
    assert isinstance(row, Row) and row.path == str(tmp_path / "a.flac")


@pytest.mark.parametrize(
    "command",
    [
        "sph2pipe -f wav -p -c 3 a.sph |",
        "sox a.wav -t wav - speed 0.9 |",
        "sox a.wav -t wav -c 1 - remix 1,2 |",
        "sox a.wav -t wav -c 2 - |",
        "cat a.wav | wav-reverberate - - |",
        "ffmpeg -ss 3 -i a.wav -f wav - |",
    ],
)
def test_a_command_that_changes_the_sound_is_refused(command: str, tmp_path: Path) -> None:
    (tmp_path / "wav.scp").write_text(f"a {command}\n")
    (tmp_path / "text").write_text("a hello\n")
    with pytest.raises(CorpusError) as error:
        list(read_files([tmp_path], None))
    assert str(error.value) == (
        f"{tmp_path}/wav.scp:1: a command that does more than decode a file; write what it prints to a file, "
        f"and name that: {command}"
    )


@pytest.mark.parametrize("place", ["dump/data_wav.ark:123", "dump/data_wav.ark:123[0:99]"])
def test_a_recording_in_an_archive_of_kaldi_is_refused_with_what_to_do(place: str, tmp_path: Path) -> None:
    (tmp_path / "wav.scp").write_text(f"a {place}\n")
    (tmp_path / "text").write_text("a hello\n")
    with pytest.raises(CorpusError, match=r"wav\.scp:1: a recording in an archive, ") as error:
        list(read_files([tmp_path], None))
    assert str(error.value).endswith(f" to a file: {place}")


def test_a_folder_with_lists_is_refused_with_their_names(tmp_path: Path) -> None:
    for name, columns in (("dev.csv", "wav_filename,transcript"), ("train.tsv", "path\tsentence"), ("ages.csv", "a,b")):
        (tmp_path / name).write_text(f"{columns}\n")
    with pytest.raises(CorpusError) as caught:
        list(read_files([tmp_path], None))
    those = f"{tmp_path / 'dev.csv'}, {tmp_path / 'train.tsv'}"
    assert str(caught.value) == f"{tmp_path}: is a folder; name the lists in it that are meant: {those}"


def test_the_channel_behind_the_times_of_a_segment_is_the_one_that_is_cut_out(tmp_path: Path) -> None:
    (tmp_path / "wav.scp").write_text("call call.wav\n")
    (tmp_path / "segments").write_text("a call 0 1 0\nb call 0.5 2 1\nc call 2 3\n")
    (tmp_path / "text").write_text("a hello\nb good morning\nc how are you\n")
    records = [record for record in read_records(tmp_path, Choices()) if isinstance(record, Record)]
    assert [(record.start, record.channel) for record in records] == [(0.0, 0), (0.5, 1), (2.0, None)]


def test_malformed_segments_of_kaldi_are_left_out_with_the_reason(tmp_path: Path) -> None:
    segments = {"a": "", "b": "call", "c": "call 0 inf", "d": "call nan -1", "e": "call 1 -2", "f": "call 0 1 left"}
    (tmp_path / "wav.scp").write_text("call call.wav\n")
    (tmp_path / "segments").write_text("".join(f"{name} {segment}\n" for name, segment in segments.items()))
    (tmp_path / "text").write_text("".join(f"{name} hello\n" for name in segments))
    items = list(read_records(tmp_path, Choices()))
    assert [each.reason for each in items if isinstance(each, LeftOut)] == [
        "its recording is not in wav.scp",
        *["malformed times in segments"] * 3,
    ]
    ends_before, of_all_channels = (each for each in items if isinstance(each, Record))
    assert (ends_before.duration, of_all_channels.duration, of_all_channels.channel) == (-3, 1, None)
