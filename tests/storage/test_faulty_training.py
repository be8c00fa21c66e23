"""Training from shards in an object store, and into it, while requests fail and files are gone."""

from __future__ import annotations

import json
import re
import threading
from hashlib import sha256
from pathlib import Path

import pytest
from corpora import TinyCorpus
from object_store import ObjectStore
from program import Finished, Program
from xdg import BaseDirectory

from deepspeech.checkpoints.project_folders import in_project_folders
from deepspeech.cli.flags import parse
from deepspeech.cli.importing.shards import main as write_shards
from deepspeech.cli.storage.local_copies import with_local_copies
from deepspeech.util.errors import FlagError

pytest_plugins = ["store_fixtures"]


class Watcher:
    """Reads the checkpoint that a folder of the store names, again and again, and keeps what is wrong with it."""

    def __init__(self, store: ObjectStore, folder: str) -> None:
        self._store, self._folder = store, folder
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.seen: set[str] = set()
        self.damaged: list[str] = []

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.05):
            for index in ("checkpoint", "best_dev_checkpoint"):
                name = self._named(index)
                trouble = self._trouble(name) if name else ""
                if trouble and self._named(index) == name:
                    self.damaged.append(f"{index} {name}: {trouble}")
                elif name:
                    self.seen.add(name)

    def _named(self, index: str) -> str:
        try:
            text = self._store.get(f"{self._folder}/{index}").decode()
        except self._store.client.exceptions.NoSuchKey:
            return ""
        named: list[str] = re.findall(r'model_checkpoint_path: "(.+)"', text)
        return named[0]

    def _trouble(self, name: str) -> str:
        try:
            description = json.loads(self._store.get(f"{self._folder}/{name}.json"))
            if description.get("unfinished"):
                return "unfinished"
            for ending, digest in description["files"].items():
                if sha256(self._store.get(f"{self._folder}/{name}{ending}")).hexdigest() != digest:
                    return f"{ending} is another file"
        except self._store.client.exceptions.NoSuchKey as error:
            return str(error)
        return ""


def losses(run: Finished) -> list[str]:
    """Return the loss of each epoch over each set, and its utterances."""
    return re.findall(r"loss [\d.]+, \d+ utterances", run.stderr)


@pytest.fixture
def filled(store: ObjectStore, program: Program, tmp_path: Path) -> str:
    """Fill the store with the tiny corpus, training set in shards; return what --train_files is given."""
    corpus = program.corpus
    assert write_shards([str(corpus.train), "--to", str(tmp_path / "shards/train"), "--shard_mb", "0.15"]) == 0
    shards = sorted((tmp_path / "shards").glob("*.tar"))
    for path in shards:
        store.put(f"shards/{path.name}", path.read_bytes())
    for path in (corpus.dev, corpus.test, *corpus.dev.parent.glob("wav/dev-*"), *corpus.dev.parent.glob("wav/test-*")):
        store.put(f"corpus/{path.relative_to(corpus.dev.parent)}", path.read_bytes())
    return f"shards/train-{{000000..{len(shards) - 1:06d}}}.tar"


def flags(program: Program, train: str, dev: str, **more: object) -> list[str]:
    given = {"train_files": train, "dev_files": dev, "epoch": 2, "shard_window": 2, "validation_step": 1, **more}
    return [
        each for each in program.training(**given) if not each.startswith(("--checkpoint_dir", "--summary_dir"))
    ] + [f"--{name}={value}" for name, value in more.items() if name in ("checkpoint_dir", "summary_dir")]


def test_training_goes_on_through_failing_requests_and_an_outage_and_nothing_half_written_is_seen(
    store: ObjectStore, filled: str, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = program.corpus
    local = program.run(*flags(program, str(tmp_path / filled), str(corpus.dev), checkpoint_dir=tmp_path / "local"))
    assert local.code == 0, local.stderr
    store.faults.share = 0.05
    store.faults.begins = ("run/best_dev-", 2.0)
    with Watcher(store, "run") as watcher:
        run = program.run(
            *flags(
                program,
                store.address(filled),
                store.address("corpus/dev.csv"),
                checkpoint_dir=store.address("run"),
                summary_dir=store.address("summaries"),
                export_dir=store.address("export"),
                test_files=store.address("corpus/test.csv"),
                dev_cached_features_path=store.address("caches/dev.hdf5"),
                test_output_file=store.address("out/test.json"),
                summary_secs=1,
                storage_retry_secs=60,
                storage_cache_gb=0.0006,  # shards of an epoch before are gone, and fetched again
                max_to_keep=2,
            )
        )
    assert run.code == 0, run.stderr
    assert losses(run)[: len(losses(local))] == losses(local) != []
    assert store.faults.failed["gone"] > 0
    assert store.faults.failed.total() > 5
    assert not watcher.damaged
    assert watcher.seen
    names = store.names()
    assert {"export/output_graph.pb", "export/model.md", "caches/dev.hdf5", "out/test.json", "run/params.txt"} <= names
    assert any(name.startswith("summaries/events.out.tfevents.") for name in names)
    assert not [name for name in names if ".lock" in name or "part-" in name or "tempstate" in name]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))
    again = program.run(
        *flags(program, store.address(filled), str(corpus.dev), checkpoint_dir=store.address("run"), epoch=3)
    )
    assert again.code == 0, again.stderr
    assert "2 of 3 epochs done" in again.stderr
    assert len(losses(again)) < len(losses(local))


def test_a_store_that_takes_no_checkpoints_is_told_before_training(store: ObjectStore, program: Program) -> None:
    store.faults.read_only = True
    corpus = program.corpus
    run = program.run(*flags(program, str(corpus.train), str(corpus.dev), checkpoint_dir=store.address("run")))
    assert run.code == 1
    assert re.search(r"^deepspeech: s3://speech/run/\S+: Access Denied", run.error), run.error
    assert not losses(run)


def test_initial_weights_that_are_gone_are_not_missed_where_training_resumes(
    store: ObjectStore, tiny_corpus: TinyCorpus
) -> None:
    addresses = [f"--{name}={store.address(name)}" for name in ("initialize_from_weights", "checkpoint_dir")]
    options = parse([*addresses, f"--train_files={tiny_corpus.train}"])
    assert options is not None
    with pytest.raises(FlagError, match=r"--initialize_from_weights=s3://speech/\S+: "):
        with_local_copies(options)
    store.put("checkpoint_dir/train-1.index", b"")
    assert (with_local_copies(options).checkpoints.directory / "train-1.index").exists()


def test_initial_weights_are_not_missed_where_training_resumes_in_its_default_folder(
    store: ObjectStore, tiny_corpus: TinyCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BaseDirectory, "xdg_data_home", str(tmp_path))
    address = store.address("initialize_from_weights")
    options = parse([f"--initialize_from_weights={address}", f"--train_files={tiny_corpus.train}"])
    assert options is not None
    folder = in_project_folders(options).checkpoints.directory
    with pytest.raises(FlagError, match=r"--initialize_from_weights=s3://speech/\S+: "):
        with_local_copies(options, in_project_folders)
    folder.mkdir(parents=True)
    (folder / "train-1.index").touch()
    assert with_local_copies(options, in_project_folders).checkpoints.directory == folder
