"""Corpora in tar shards: written, listed, read, mixed in windows, and handed out by shard."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from corpora import TinyCorpus
from running import files_no_larger_than

from deepspeech.cli.importing.shards import main
from deepspeech.util import feeding
from deepspeech.util.audio import Samples, read_audio
from deepspeech.util.augmentation import source
from deepspeech.util.augmentation.registry import parse_augmentations
from deepspeech.util.augmentation.source import AugmentationPlan, Augmented
from deepspeech.util.corpus import Corpus, read_corpus
from deepspeech.util.errors import CorpusError
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.feeding import Feeder, OnTheFly
from deepspeech.util.shards.writing import write_shards
from deepspeech.util.text import Alphabet

pytest_plugins = ["shard_fixtures"]
pytestmark = pytest.mark.usefixtures("own_cache")

MFCC = front_end(FeatureOptions(feature_type="psf"))


def read(shards: Path, corpus: TinyCorpus, mixed: int = 0, *, skip: bool = False) -> Corpus:
    labels = Alphabet.load(corpus.alphabet)
    return read_corpus([shards], labels, MFCC, progress=False, shards_mixed=mixed, skip_bad_rows=skip)


def test_a_corpus_is_the_same_in_shards(shards: Path, tiny_corpus: TinyCorpus) -> None:
    ours, theirs = read(shards, tiny_corpus), read(tiny_corpus.train, tiny_corpus)
    assert shards.name.startswith("train-{000000..0000")
    assert len({each.csv_file for each in ours}) > 3
    assert sorted((each.samples, each.transcript) for each in ours) == sorted(
        (each.samples, each.transcript) for each in theirs
    )
    by_features = {each.samples: each for each in theirs}
    for index in (0, 11, 23):
        wanted = by_features[ours[index].samples]
        assert np.array_equal(OnTheFly(ours, MFCC).samples(index), read_audio(wanted.path, 16_000))
    again = read(shards, tiny_corpus)  # from what is remembered of the shards
    assert [each.place for each in again] == [each.place for each in ours]


def test_tools_take_shards_one_window_after_the_other(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    written = write_shards([tiny_corpus.train], str(tmp_path / "train"), 100_000, seed=1)
    corpus = read_corpus([written.name], Alphabet.load(tiny_corpus.alphabet), MFCC, progress=False)
    names = [each.csv_file for each in corpus]
    first, later = set(names[: corpus.windows[1]]), set(names[corpus.windows[1] :])
    assert len(first) == 4 and later and first.isdisjoint(later)


def test_the_ending_of_a_shard_may_have_capital_letters(shards: Path, tiny_corpus: TinyCorpus) -> None:
    for shard in shards.parent.glob("train-*.tar"):
        shard.rename(shard.with_suffix(".TAR"))
    renamed = read(shards.with_suffix(".TAR"), tiny_corpus, mixed=1)
    assert len(renamed) == len(read(tiny_corpus.train, tiny_corpus)) and len(renamed.windows) > 3
    assert len(OnTheFly(renamed, MFCC).samples(0)) == renamed[0].samples


def test_bad_members_are_named_and_a_shard_that_ends_early_is_refused(
    shards: Path, tmp_path: Path, tiny_corpus: TinyCorpus, capsys: pytest.CaptureFixture[str]
) -> None:
    first = Path(str(shards).partition("{")[0] + "000000.tar")
    with tarfile.open(first) as archive:
        archive.extractall(tmp_path / "members", filter="data")
    names = sorted((tmp_path / "members").glob("*.wav"))
    names[0].write_bytes(names[0].read_bytes()[:-100])
    names[1].with_suffix(".txt").unlink()
    names[2].with_suffix(".txt").unlink()
    names[2].with_suffix(".json").write_text(r'{"text": "a\ud800"}')
    with tarfile.open(tmp_path / "bad.tar", "w") as archive:
        archive.add(tmp_path / "members", arcname="")
    with pytest.raises(CorpusError) as caught:
        read(tmp_path / "bad.tar", tiny_corpus)
    assert sorted(each.source for each in caught.value.bad_rows) == [f"{tmp_path}/bad.tar:{row}" for row in (1, 2, 3)]
    assert "truncated" in str(caught.value)
    assert "no transcript beside it, in .txt or .json" in str(caught.value)
    assert "its text cannot be read: 'utf-8' codec can't encode character '\\ud800'" in str(caught.value)
    assert len(read(tmp_path / "bad.tar", tiny_corpus, skip=True)) == len(names) - 3
    (tmp_path / "cut.tar").write_bytes(first.read_bytes()[:60_000])
    with pytest.raises(CorpusError, match=r"cut.tar: .*(ends within|damaged)"):
        read(tmp_path / "cut.tar", tiny_corpus)
    with pytest.raises(CorpusError, match=r"train-000099.tar: cannot read the shard: No such file"):
        read(first.with_name("train-{000099..000100}.tar"), tiny_corpus)
    assert main([str(tmp_path / "none.csv"), "--to", str(tmp_path / "x")]) == 1
    assert "none.csv: cannot read the CSV: No such file" in capsys.readouterr().err


def test_members_are_found_as_tar_writes_their_names(tmp_path: Path, tiny_corpus: TinyCorpus) -> None:
    wav = sorted((tiny_corpus.train.parent / "wav").glob("train-*.wav"))[0]
    (tmp_path / "members").mkdir()
    for name in ("a.wav", "b.wav"):  # one file, which is in the shard once, and then as a link
        (tmp_path / "members" / name).hardlink_to(wav)
        (tmp_path / "members" / name).with_suffix(".txt").write_text(name[0])
    for before in ("./", f"{tmp_path}/members/"):
        with tarfile.open(tmp_path / "odd.tar", "w") as archive:
            for name in ("a.wav", "a.txt", "b.wav", "b.txt"):
                member = archive.gettarinfo(tmp_path / "members" / name)
                member.name, member.linkname = f"{before}{name}", f"{before}a.wav" if member.islnk() else ""
                archive.addfile(member, (tmp_path / "members" / name).open("rb") if member.isreg() else None)
        corpus = read(tmp_path / "odd.tar", tiny_corpus)
        assert sorted(each.transcript for each in corpus) == ["a", "b"]
        assert all(np.array_equal(OnTheFly(corpus, MFCC).samples(at), read_audio(wav, 16_000)) for at in (0, 1))


def test_what_may_be_gone_the_next_time_is_not_remembered_of_a_shard(shards: Path, tiny_corpus: TinyCorpus) -> None:
    """A recording of a shard is read in memory, of which there may be too little."""
    with files_no_larger_than(8192), pytest.raises(CorpusError) as caught:
        read(shards, tiny_corpus)
    (first, *_), every = caught.value.bad_rows, len(read(tiny_corpus.train, tiny_corpus))
    assert first.reason.endswith(": No space left on device")
    assert len(read(shards, tiny_corpus)) == every


@pytest.mark.parametrize("again", ["a.wav", "a.txt", "a.WAV", "a.flac"])
def test_members_that_an_utterance_has_twice_are_a_bad_row(again: str, tmp_path: Path, tiny_corpus: TinyCorpus) -> None:
    wav, other = sorted((tiny_corpus.train.parent / "wav").glob("train-*.wav"))[:2]
    (tmp_path / "a.txt").write_text("a")
    with tarfile.open(tmp_path / "twice.tar", "w") as archive:
        for name in ("a.wav", "a.txt", "b.wav", "b.txt", again):
            archive.add(tmp_path / "a.txt" if name.endswith("txt") else other if name == again else wav, name)
    with pytest.raises(CorpusError, match=rf"twice.tar/a.wav: {again} is one member too many; give each") as caught:
        read(tmp_path / "twice.tar", tiny_corpus)
    assert [each.source for each in caught.value.bad_rows] == [f"{tmp_path}/twice.tar:1"]
    assert len(read(tmp_path / "twice.tar", tiny_corpus, skip=True)) == 1


@pytest.mark.parametrize("name", ["train.tar.gz", "train-{000..003}.tgz", "train.TAR.xz"])
def test_a_compressed_shard_is_refused_as_such(name: str, tmp_path: Path, tiny_corpus: TinyCorpus) -> None:
    with pytest.raises(CorpusError, match=r"train.*: shards must be tar files without compression; decompress it"):
        read(tmp_path / name, tiny_corpus)


def test_a_shard_of_sparse_files_is_refused_and_not_read_in_part(tmp_path: Path, tiny_corpus: TinyCorpus) -> None:
    samples = np.random.default_rng(0).normal(0, 0.1, 200_000)
    samples[20_000:60_000] = 0
    soundfile.write(tmp_path / "a.wav", samples, 16_000)
    content = (tmp_path / "a.wav").read_bytes()
    with (tmp_path / "a.wav").open("wb") as with_a_hole:
        with_a_hole.write(content[:45_056])
        with_a_hole.seek(114_688)
        with_a_hole.write(content[114_688:])
    assert (tmp_path / "a.wav").read_bytes() == content
    soundfile.write(tmp_path / "b.wav", samples, 16_000)
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    members = ("a.wav", "a.txt", "b.wav", "b.txt")
    subprocess.run(("tar", "--sparse", "-cf", "sparse.tar", *members), cwd=tmp_path, check=True)
    with pytest.raises(CorpusError, match=r"sparse.tar: holds a.wav as a sparse file; write it again without --sparse"):
        read(tmp_path / "sparse.tar", tiny_corpus)


def test_a_range_that_ends_before_it_begins_is_refused(tmp_path: Path, tiny_corpus: TinyCorpus) -> None:
    with pytest.raises(CorpusError, match=r"the range \{7..3\} ends before it begins"):
        read(tmp_path / "train-{7..3}.tar", tiny_corpus)


def test_an_epoch_reads_one_window_of_shards_after_the_other(shards: Path, tiny_corpus: TinyCorpus) -> None:
    from deepspeech.util.batching.batches import Batching

    corpus = read(shards, tiny_corpus, mixed=2)
    feeder = Feeder(corpus, OnTheFly(corpus, MFCC), Batching(3, seed=7))
    shard_of = [each.csv_file for each in corpus]
    orders = []
    for epoch in range(4):
        starts = feeder.cut.starts(epoch)
        windows = []
        for batch in feeder.cut.of_epoch(epoch):
            windows.append(frozenset(shard_of[index] for index in batch))
        ends = (*starts[1:], len(feeder))
        spans = [frozenset().union(*windows[start:end]) for start, end in zip(starts, ends, strict=True)]
        assert all(len(span) <= 2 for span in spans)
        assert sum(map(len, spans)) == len(set(shard_of))  # no shard is in two windows
        orders.append([min(span) for span in spans])
    assert orders[0] == sorted(orders[0])
    assert len({tuple(order) for order in orders}) > 1


def test_babble_is_of_the_first_shards_so_that_a_few_utterances_do_not_take_all_of_them(
    shards: Path, tiny_corpus: TinyCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_from: set[str] = set()

    def noted(path: str, *arguments: Any) -> Samples:
        read_from.add(str(Path(path).parent))
        return read_audio(path, *arguments)

    corpus = read(shards, tiny_corpus, mixed=1)
    monkeypatch.setattr(feeding, "read_audio", noted)
    for enough, windows in ((1, 1), (corpus.windows[1] + 1, 2), (len(corpus), len(corpus.windows))):
        monkeypatch.setattr(source, "MOST_VOICES", enough)
        read_from.clear()
        plan = AugmentationPlan(parse_augmentations(["noise[color=babble]"]), seed=1, epochs=0)
        Augmented(corpus, MFCC, OnTheFly(corpus, MFCC), plan).features(0)
        assert read_from == set(sorted({each.csv_file for each in corpus})[:windows])
