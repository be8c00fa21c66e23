"""Recordings that were decoded for their check are not decoded again at the next start."""

import os
import shutil
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import soundfile
from corpora import RATE, write_csv, write_wav

from deepspeech.util import audio
from deepspeech.util.checks import checked_recordings
from deepspeech.util.checks.checked_recordings import CheckedRecordings
from deepspeech.util.corpus import Corpus, read_corpus
from deepspeech.util.errors import AudioError, CorpusError
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.text import Alphabet

SECOND = np.sin(np.arange(RATE) / 10).astype(np.float32) * 0.3
NAMES = ("a.flac", "b.flac", "c.wav")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two flac files and a wav, listed in all.csv."""
    for name in NAMES:
        write_wav(tmp_path / name, SECOND)
    write_csv(tmp_path / "all.csv", [(tmp_path / name, "a") for name in NAMES])
    return tmp_path


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which the name of each decoded recording is added."""
    names: list[str] = []
    decoded_blocks = audio._decoded_blocks

    def noted(path: str, sound: soundfile.SoundFile) -> object:
        names.append(Path(path).name)
        return decoded_blocks(path, sound)

    monkeypatch.setattr(audio, "_decoded_blocks", noted)
    return names


def read(folder: Path, remembered: Path) -> Corpus:
    csv_files, labels = [folder / "all.csv"], Alphabet(("a",))
    return read_corpus(csv_files, labels, front_end(FeatureOptions()), progress=False, remembered=remembered)


def test_only_new_and_changed_recordings_are_decoded_at_the_next_start(folder: Path, decoded: list[str]) -> None:
    remembered = folder / "cache" / "checked"
    first = read(folder, remembered)
    assert sorted(decoded) == ["a.flac", "b.flac"]
    decoded.clear()
    second = read(folder, remembered)
    assert not decoded
    assert [(each.path, each.samples, each.file_size, each.modified_ns) for each in second] == [
        (each.path, each.samples, each.file_size, each.modified_ns) for each in first
    ]
    write_wav(folder / "b.flac", SECOND[: RATE // 2])
    assert sorted(each.samples for each in read(folder, remembered)) == [RATE // 2, RATE, RATE]
    assert decoded == ["b.flac"]
    decoded.clear()
    os.utime(folder / "a.flac", ns=(0, 0))
    read(folder, remembered)
    assert decoded == ["a.flac"]


def test_a_recording_that_is_cut_later_is_named(folder: Path) -> None:
    remembered = folder / "checked"
    read(folder, remembered)
    cut = folder / "a.flac"
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    for _ in range(2):
        with pytest.raises(CorpusError, match=r"a\.flac"):
            read(folder, remembered)


def test_good_recordings_beside_a_bad_one_are_remembered(folder: Path, decoded: list[str]) -> None:
    (folder / "a.flac").write_bytes(b"no audio")
    for _ in range(2):
        with pytest.raises(CorpusError):
            read(folder, folder / "checked")
    assert decoded == ["b.flac"]


def test_another_version_of_the_check_knows_nothing_of_the_one_before(
    folder: Path, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read(folder, folder / "checked")
    monkeypatch.setattr(checked_recordings, "reader_version", lambda: "another")
    read(folder, folder / "checked")
    assert len(decoded) == 4


@pytest.mark.parametrize("damage", ["zeros", "cut", "empty", "garbage"])
def test_a_damaged_file_is_made_anew(folder: Path, decoded: list[str], damage: str) -> None:
    remembered = folder / "checked"
    read(folder, remembered)
    whole = remembered.read_bytes()
    remembered.write_bytes(
        {"zeros": whole[:-20] + bytes(20), "cut": whole[:-32], "empty": b"", "garbage": b"\xff" * 200}[damage]
    )
    read(folder, remembered)
    assert len(decoded) == 4
    assert CheckedRecordings(remembered).inspect(folder / "b.flac").samples == RATE
    assert len(decoded) == 4


def test_without_a_place_to_write_all_is_checked_and_nothing_is_said(
    folder: Path, decoded: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "file").write_text("")
    for remembered in (folder / "file" / "checked", folder):
        read(folder, remembered)
    assert len(decoded) == 4
    assert not any(capfd.readouterr())


def test_two_processes_that_save_keep_what_both_found(folder: Path, decoded: list[str]) -> None:
    remembered = folder / "checked"
    one, other = CheckedRecordings(remembered), CheckedRecordings(remembered)
    one.inspect(folder / "a.flac")
    other.inspect(folder / "b.flac")
    one.save()
    other.save()
    decoded.clear()
    read(folder, remembered)
    assert not decoded
    assert [path.name for path in folder.glob("*checked*")] == ["checked"]


def test_what_was_not_used_for_longest_is_forgotten_first(
    folder: Path, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checked_recordings, "MOST_REMEMBERED", 2)
    remembered = folder / "checked"
    read(folder, remembered)
    shutil.copy(folder / "a.flac", folder / "d.flac")
    checked = CheckedRecordings(remembered)
    for name in ("d.flac", "a.flac"):
        checked.inspect(folder / name)
    checked.save()
    decoded.clear()
    again = CheckedRecordings(remembered)
    for name in ("a.flac", "d.flac", "b.flac"):
        again.inspect(folder / name)
    assert decoded == ["b.flac"]


def test_millions_of_remembered_recordings_take_few_bytes_each(tmp_path: Path) -> None:
    remembered, count = tmp_path / "checked", 100_000
    checked = CheckedRecordings(remembered)
    tracemalloc.start()
    for number in range(count):
        checked._use(number.to_bytes(16, "big"), (RATE, RATE, 1))
    taken, _ = tracemalloc.get_traced_memory()
    assert taken < 80 * count
    tracemalloc.stop()
    checked._news = True
    checked.save()
    tracemalloc.start()
    again = CheckedRecordings(remembered)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 80 * count
    assert again._known((count - 256).to_bytes(16, "big")) == (RATE, RATE, 1)
    assert again._known(count.to_bytes(16, "big")) is None
    assert checked_recordings.MOST_REMEMBERED >= 2_000_000


def test_keys_that_end_with_zeros_are_recognized(
    folder: Path, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {"a.flac": b"key".ljust(16, b"\0"), "b.flac": b"key\0a".ljust(16, b"\0")}
    monkeypatch.setattr(CheckedRecordings, "_key", lambda _self, path, *_state: keys.get(Path(path).name, bytes(16)))
    read(folder, folder / "checked")
    read(folder, folder / "checked")
    assert sorted(decoded) == ["a.flac", "b.flac"]


def test_a_missing_recording_is_named(folder: Path) -> None:
    with pytest.raises(AudioError, match="No such file"):
        CheckedRecordings(folder / "checked").inspect(folder / "gone.flac")


def test_recordings_that_were_checked_are_not_opened_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = "wav_filename,wav_filesize,transcript,start,duration"
    (folder / "all.csv").write_text(
        "\n".join([header, "a.flac,,a,0.1,0.3", "a.flac,,a,0.5,", "c.wav,,a,0.5,0.4", "c.wav,,a,,"])
    )
    first = read(folder, folder / "checked")
    opened: list[str] = []
    open_recording = audio.open_recording

    def noted(path: str) -> object:
        opened.append(Path(path).name)
        return open_recording(path)

    monkeypatch.setattr(audio, "open_recording", noted)
    again = read(folder, folder / "checked")
    assert [(each.part, each.samples) for each in again] == [(each.part, each.samples) for each in first]
    assert not opened
