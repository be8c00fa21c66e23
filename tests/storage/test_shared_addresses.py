"""Folders of a run at one address, or one within another: what each of them holds stays."""

from __future__ import annotations

import shutil
import signal
from itertools import islice
from pathlib import Path

import pytest
from object_store import BUCKET, ObjectStore
from program import Program
from xdg import BaseDirectory

from deepspeech.cli import flags
from deepspeech.cli.storage.local_copies import send_what_was_written, with_local_copies
from deepspeech.util.storage.copies import FOLDERS, copy_of, root
from deepspeech.util.storage.folders import begin_empty, receive, send, send_file
from deepspeech.util.storage.store import Remote, Store

pytest_plugins = ["store_fixtures"]


def test_what_lies_in_a_folder_of_checkpoints_and_is_kept_by_itself_stays_there(store: ObjectStore) -> None:
    checkpoints, summaries = (copy_of(store.address(name), FOLDERS) for name in ("run", "run/summaries"))
    output = copy_of(store.address("run/test.json"), FOLDERS)

    def run(name: str) -> None:
        receive(checkpoints)
        begin_empty(summaries)
        summaries.mkdir(parents=True, exist_ok=True)
        (summaries / name).write_text(name)
        (checkpoints / "checkpoint").write_text(name)
        output.write_text(name)
        for _ in range(2):
            send(checkpoints)
            send(summaries)
        send_file(output)

    run("events.1")
    run("events.2")
    expected = {"checkpoint", "test.json", "summaries/events.1", "summaries/events.2"}
    assert store.names("run/") == expected
    shutil.rmtree(root())  # as on another machine
    run("events.3")
    assert store.names("run/") == expected | {"summaries/events.3"}
    assert store.get("run/checkpoint") == store.get("run/test.json") == b"events.3"


@pytest.mark.parametrize("flag", ["checkpoint_dir", "load_checkpoint_dir"])
def test_checkpoints_stay_where_summaries_are_written_to_the_same_folder(store: ObjectStore, flag: str) -> None:
    given = ["--train_files=a.csv", "--save_checkpoint_dir=b"][: 1 + (flag == "load_checkpoint_dir")]
    options = flags.parse([*given, *(f"--{name}={store.address('run')}" for name in (flag, "summary_dir"))])
    assert options is not None
    store.put("run/checkpoint", b"train-1")
    for name in ("events.1", "events.2"):
        local = with_local_copies(options)
        folder: Path = local.summaries.directory
        assert (folder / "checkpoint").read_bytes() == b"train-1"
        (folder / name).write_text(name)
        send_what_was_written(local)
    assert store.names("run/") == {"checkpoint", "events.1", "events.2"}


def test_a_folder_is_received_whole_though_training_supersedes_its_checkpoints_meanwhile(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, fetch_really, steps = copy_of(store.address("run"), FOLDERS), Store.fetch, iter(range(2, 5))

    def files_of(step: int) -> list[str]:
        return [f"train-{step}.{ending}" for ending in ("data-00000-of-00001", "index", "json")]

    def save(step: int) -> None:
        for name in files_of(step):
            store.put(f"run/{name}", name.encode())
        store.put("run/checkpoint", f"train-{step}".encode())
        for name in files_of(step - 1):
            store.client.delete_object(Bucket=BUCKET, Key=f"run/{name}")

    def fetch_while_another_is_saved(self: Store, address: str, path: Path) -> Remote:
        if address.endswith(".index"):
            for step in islice(steps, 1):
                save(step)
        return fetch_really(self, address, path)

    save(1)
    monkeypatch.setattr(Store, "fetch", fetch_while_another_is_saved)
    receive(here, only_read=True)
    assert next(steps, None) is None
    assert {path.name: path.read_text() for path in here.iterdir()} == {
        "checkpoint": "train-4",
        **{name: name for name in files_of(4)},
    }


def test_checkpoints_at_a_whole_bucket_come_without_the_corpus_beside_them_which_stays(store: ObjectStore) -> None:
    address = "s3://speech"
    of_checkpoints = {"checkpoint", "train-1.index", "graph/events.out.tfevents.graph"}
    others = {"corpus/train.csv", "corpus/graph/a.wav", "other run/checkpoint"}
    for name in of_checkpoints | others:
        store.put(name, name.encode())
    options = flags.parse(["--train_files=a.csv", f"--checkpoint_dir={address}"])
    assert options is not None
    for changed in ("train-2", "train-3"):
        store.put("corpus/train.csv", changed.encode())
        here = with_local_copies(options).checkpoints.directory
        received = {path.relative_to(here).as_posix() for path in here.rglob("*") if path.is_file()}
        assert received == of_checkpoints
        (here / "checkpoint").write_text(changed)
        send(here)
    assert store.names() == of_checkpoints | others
    assert store.get("checkpoint") == b"train-3"


@pytest.mark.parametrize(
    ("moment", "epochs", "number"), [("Training of epoch 1", 1000, signal.SIGKILL), ("Testing with", 1, signal.SIGTERM)]
)
def test_training_may_go_on_elsewhere_and_come_back_where_a_run_has_ended_that_had_no_more_to_save(
    moment: str,
    epochs: int,
    number: int,
    store: ObjectStore,
    program: Program,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = store.address("run")
    ended = program.start(*program.training(epoch=epochs, checkpoint_dir=run), *program.test_files())
    assert ended.stderr is not None
    assert any(moment in line for line in ended.stderr)
    ended.send_signal(number)
    ended.wait()
    here = copy_of(run, FOLDERS)
    with monkeypatch.context() as another_machine:
        another_machine.setattr(BaseDirectory, "xdg_cache_home", str(tmp_path / "another machine"))
        elsewhere = copy_of(run, FOLDERS)
        receive(elsewhere)
        (elsewhere / "params.txt").write_text("trained on there")
        send(elsewhere)
    receive(here)
    assert (here / "params.txt").read_text() == "trained on there"
