import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from corpora import TinyCorpus, write_csv, write_tiny_corpus

from deepspeech.util.corpus import Corpus, read_corpus
from deepspeech.util.errors import AudioError, FeatureCacheError
from deepspeech.util.feature_cache import FORMAT, open_feature_cache
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.feeding import OnTheFly
from deepspeech.util.text import Alphabet

MFCC = front_end(FeatureOptions(feature_type="psf"))

BUILDER = """
import itertools, logging, os, resource, signal, sys
from deepspeech.util import corpus, errors, feature_cache, features, text
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
alphabet, csv_file, path, largest_file, killed_at = sys.argv[1:]
if int(largest_file):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(largest_file), int(largest_file)))
front_end = features.front_end(features.FeatureOptions(feature_type="psf"))
utterances = corpus.read_corpus([csv_file], text.Alphabet.load(alphabet), front_end)
extract, extracted = front_end.extract, itertools.count(1)
def extract_until_killed(*signals):
    if next(extracted) == int(killed_at):
        os.kill(os.getpid(), signal.SIGKILL)
    return extract(*signals)
front_end.extract = extract_until_killed
try:
    feature_cache.open_feature_cache(path, utterances, front_end).close()
except errors.FeatureCacheError as error:
    sys.exit(str(error))
"""


@pytest.fixture
def files(tmp_path: Path) -> TinyCorpus:
    return write_tiny_corpus(tmp_path)


def read(files: TinyCorpus) -> Corpus:
    return read_corpus([files.train], Alphabet.load(files.alphabet), MFCC)


def start_builder(files: TinyCorpus, path: Path, largest_file: int = 0, killed_at: int = 0) -> "subprocess.Popen[str]":
    """Build a cache in another process, which is killed at this utterance, counted from 1."""
    command = [sys.executable, "-c", BUILDER, *map(str, (files.alphabet, files.train, path, largest_file, killed_at))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def assert_holds(path: Path, corpus: Corpus) -> None:
    with open_feature_cache(path, corpus, MFCC) as cache:
        for index in range(len(corpus)):
            np.testing.assert_array_equal(cache.features(index), OnTheFly(corpus, MFCC).features(index))


def test_a_cache_holds_what_extraction_yields(files: TinyCorpus, tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "train.h5"
    assert_holds(path, read(files))
    assert [entry.name for entry in path.parent.iterdir()] == ["train.h5"]


def test_a_current_cache_is_used_as_it_is_by_whatever_path_its_recordings_are_named(
    files: TinyCorpus, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "train.h5"
    assert_holds(path, read(files))
    before = path.stat()
    monkeypatch.chdir(tmp_path)
    Path("link").symlink_to(".")
    caplog.set_level(logging.INFO, "deepspeech.util.feature_cache")
    for folder in (tmp_path, Path(), Path("link")):
        assert_holds(path, read(replace(files, train=folder / files.train.name)))
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert not caplog.messages


def touch_recording(files: TinyCorpus) -> None:
    os.utime(files.train.parent / "wav" / "train-3.wav", ns=(1, 1))


def replace_recording(files: TinyCorpus) -> None:
    shutil.copy2(files.train.parent / "wav" / "train-4.wav", files.train.parent / "wav" / "train-3.wav")


def remove_row(files: TinyCorpus) -> None:
    files.train.write_text("\n".join(files.train.read_text().splitlines()[:-1]))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (touch_recording, "recordings changed"),
        (replace_recording, "recordings changed"),
        (remove_row, "utterances changed from 24 to 23"),
    ],
)
def test_a_cache_of_other_recordings_is_rebuilt_saying_why(
    files: TinyCorpus,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    change: Callable[[TinyCorpus], None],
    reason: str,
) -> None:
    path = tmp_path / "train.h5"
    assert_holds(path, read(files))
    change(files)
    with caplog.at_level(logging.INFO, "deepspeech.util.feature_cache"):
        assert_holds(path, read(files))
    (message,) = caplog.messages
    assert message.startswith(f"Building feature cache {path}: ") and reason in message


def test_a_cache_of_other_settings_is_rebuilt_saying_why(
    files: TinyCorpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "train.h5"
    assert_holds(path, read(files))
    other = front_end(FeatureOptions(feature_type="psf", window_ms=25))
    corpus = read_corpus([files.train], Alphabet.load(files.alphabet), other)
    with caplog.at_level(logging.INFO, "deepspeech.util.feature_cache"), open_feature_cache(path, corpus, other):
        pass
    assert '"window_ms": 32' in caplog.messages[0]
    assert '"window_ms": 25' in caplog.messages[0]


def test_transcripts_do_not_matter_to_a_cache(files: TinyCorpus, tmp_path: Path) -> None:
    path = tmp_path / "train.h5"
    corpus = read(files)
    assert_holds(path, corpus)
    before = path.stat()
    write_csv(files.train, [(Path(utterance.path), "e") for utterance in corpus])
    with open_feature_cache(path, read(files), front_end(FeatureOptions(feature_type="psf"))):
        assert path.stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("kept", [0, 10, 600, 5000])
def test_a_truncated_cache_is_rebuilt(
    files: TinyCorpus, tmp_path: Path, caplog: pytest.LogCaptureFixture, kept: int
) -> None:
    path = tmp_path / "train.h5"
    assert_holds(path, read(files))
    path.write_bytes(path.read_bytes()[:kept])
    with caplog.at_level(logging.INFO, "deepspeech.util.feature_cache"):
        assert_holds(path, read(files))
    assert ("damaged" if kept else "none yet") in caplog.messages[0]


def test_a_file_that_is_something_else_is_never_overwritten(files: TinyCorpus, tmp_path: Path) -> None:
    corpus = read(files)
    foreign = tmp_path / "results.h5"
    with h5py.File(foreign, "w") as file:
        file["features"] = np.zeros(3)
    for path in (foreign, files.train):
        before = path.read_bytes()
        with pytest.raises(FeatureCacheError, match=f"{path.name}: .*not a feature cache; remove it, or name another"):
            open_feature_cache(path, corpus, MFCC)
        assert path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_named(files: TinyCorpus) -> None:
    path = files.alphabet / "folder" / "train.h5"
    with pytest.raises(FeatureCacheError, match=str(path)) as error:
        open_feature_cache(path, read(files), MFCC)
    assert "\n" not in str(error.value)


def test_nothing_is_left_when_a_recording_cannot_be_read(files: TinyCorpus, tmp_path: Path) -> None:
    corpus = read(files)
    Path(corpus[20].path).unlink()
    with pytest.raises(AudioError):
        open_feature_cache(tmp_path / "cache" / "train.h5", corpus, MFCC)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_disk_that_fills_is_an_error_and_leaves_the_former_cache(files: TinyCorpus, tmp_path: Path) -> None:
    path = tmp_path / "cache" / "train.h5"
    assert_holds(path, read(files))
    before = path.read_bytes()
    touch_recording(files)
    builder = start_builder(files, path, largest_file=20_000)
    _, stderr = builder.communicate(timeout=600)
    assert builder.returncode == 1
    assert stderr.startswith(f"{path}: cannot write the feature cache: ")
    assert stderr.count("\n") == 1
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["train.h5"]


def test_a_disk_without_enough_room_is_noticed_first(files: TinyCorpus, tmp_path: Path) -> None:
    corpus = read(files)
    endless = Corpus((*corpus, replace(corpus[0], frames=10**13)), corpus.sample_rate)
    with pytest.raises(FeatureCacheError, match=r"it takes [\d,]+\.\d MB and there are [\d,]+\.\d MB left on the disk"):
        open_feature_cache(tmp_path / "cache" / "train.h5", endless, MFCC)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_builder_killed_half_way_leaves_no_cache_and_does_not_block_the_next(
    files: TinyCorpus, tmp_path: Path
) -> None:
    path = tmp_path / "train.h5"
    partial = tmp_path / "train.h5.partial"
    builder = start_builder(files, path, killed_at=12)
    builder.communicate(timeout=600)
    assert builder.returncode == -signal.SIGKILL
    assert partial.stat().st_size > 0
    assert not path.exists()
    with open_feature_cache(path, read(files), MFCC):
        assert not partial.exists()


def test_of_two_processes_one_builds_and_both_use_it(tmp_path: Path) -> None:
    files = write_tiny_corpus(tmp_path, train=200)
    path = tmp_path / "train.h5"
    builders = [start_builder(files, path) for _ in range(3)]
    output = "".join(builder.communicate(timeout=600)[0] for builder in builders)
    assert [builder.returncode for builder in builders] == [0, 0, 0]
    assert output.count("Building feature cache") == 1
    assert_holds(path, read(files))


def test_threads_read_what_one_thread_reads(files: TinyCorpus, tmp_path: Path) -> None:
    corpus = read(files)
    with open_feature_cache(tmp_path / "train.h5", corpus, MFCC) as cache, ThreadPoolExecutor(8) as pool:
        indices = list(range(len(corpus))) * 20
        for index, features in zip(indices, pool.map(cache.features, indices), strict=True):
            assert len(features) == corpus[index].frames
            np.testing.assert_array_equal(features, cache.features(index))


def test_a_corpus_of_one_utterance_can_be_cached(tmp_path: Path) -> None:
    assert_holds(tmp_path / "train.h5", read(write_tiny_corpus(tmp_path, train=1)))


def damage_features(path: Path, damage: bytes) -> None:
    with h5py.File(path, "r") as file:
        start, size = file["features"].id.get_offset(), file["features"].id.get_storage_size()
    with path.open("r+b") as cache:
        cache.seek(start + size // 2)
        cache.write(damage)


@pytest.mark.parametrize("damage", [bytes(2000), bytes(range(256)), b"\x01"])
def test_a_cache_whose_features_are_damaged_is_rebuilt_saying_so(
    files: TinyCorpus, tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: bytes
) -> None:
    path = tmp_path / "train.h5"
    assert_holds(path, read(files))
    damage_features(path, damage)
    with caplog.at_level(logging.INFO, "deepspeech.util.feature_cache"):
        assert_holds(path, read(files))
    (message,) = caplog.messages
    assert message.startswith(f"Building feature cache {path}: the present one is damaged: the features of utterance ")


@pytest.mark.parametrize("damage", [np.arange(3), 1 << 40])
def test_a_cache_whose_attributes_are_damaged_is_rebuilt(files: TinyCorpus, tmp_path: Path, damage: object) -> None:
    path = tmp_path / "train.h5"
    assert_holds(path, read(files))
    with h5py.File(path, "r+") as file:
        file.attrs["utterances"] = damage
    assert_holds(path, read(files))


def test_damage_in_a_cache_too_large_to_be_checked_at_once_is_an_error_where_it_is_read(
    files: TinyCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deepspeech.util.feature_cache.CHECKED_AT_OPENING", 0)
    path, corpus = tmp_path / "train.h5", read(files)
    assert_holds(path, corpus)
    damage_features(path, bytes(100))
    with open_feature_cache(path, corpus, MFCC) as cache:
        cache.features(0)
        with pytest.raises(FeatureCacheError, match=f"{path}: .*damaged.* remove it; it is rebuilt"):
            [cache.features(index) for index in range(len(corpus))]


@pytest.mark.parametrize("number", [1, 2])  # 1 has no checksums, 2 may hold features of mp3s decoded with noise
def test_a_cache_of_an_earlier_format_is_rebuilt(
    files: TinyCorpus, tmp_path: Path, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    path = tmp_path / "train.h5"
    assert_holds(path, read(files))
    with h5py.File(path, "r+") as file:
        file.attrs["format"] = f"deepspeech feature cache {number}"
    with caplog.at_level(logging.INFO, "deepspeech.util.feature_cache"):
        assert_holds(path, read(files))
    assert f"the format changed from deepspeech feature cache {number} to {FORMAT}" in caplog.messages[0]
