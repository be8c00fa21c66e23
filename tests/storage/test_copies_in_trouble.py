"""Local copies when the disk is full, their folder is removed, their files change, or credentials expire."""

from __future__ import annotations

import errno
import shutil
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from object_store import ObjectStore
from xdg import BaseDirectory

from deepspeech.cli import flags
from deepspeech.cli.storage.local_copies import SENT, with_local_copies
from deepspeech.options import Options
from deepspeech.training.reporting.summaries import Summaries
from deepspeech.util.errors import FlagError, StorageError
from deepspeech.util.files.opening import opened
from deepspeech.util.storage import store as store_module
from deepspeech.util.storage.copies import FOLDERS, Settings, copy_of, root
from deepspeech.util.storage.file_systems import forget
from deepspeech.util.storage.folders import begin_empty, receive, send
from deepspeech.util.storage.store import Remote, Store

pytest_plugins = ["store_fixtures"]


def local_copies_of(*arguments: str) -> Options:
    options = flags.parse([*arguments])
    assert options is not None
    return with_local_copies(options)


def test_a_copy_is_fetched_again_if_its_folder_is_removed_meanwhile(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("a.bin", b"content")
    removed: list[str] = []
    about, fetch = Store.about, Store.fetch

    def about_and_remove(self: Store, address: str) -> Remote:
        remote = about(self, address)
        if not removed:
            removed.append("before")
            shutil.rmtree(root())
        return remote

    def fetch_and_remove(self: Store, address: str, path: Path) -> Remote:
        remote = fetch(self, address, path)
        if len(removed) == 1:
            removed.append("after")
            shutil.rmtree(root())
        return remote

    monkeypatch.setattr(Store, "about", about_and_remove)
    monkeypatch.setattr(Store, "fetch", fetch_and_remove)
    with opened(copy_of(store.address("a.bin"))) as file:
        assert file.readall() == b"content"
    assert removed == ["before", "after"]
    assert copy_of(store.address("a.bin")).read_bytes() == b"content"


@pytest.mark.parametrize("content", [b"a longer list", b"short"])
def test_a_file_that_is_replaced_after_its_size_was_asked_for_arrives_as_it_is_now(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    store.put("list.csv", b"some list")
    block = store_module._block

    def block_of_another(*arguments: Any) -> bytes:
        store.put("list.csv", content)
        return block(*arguments)

    monkeypatch.setattr(store_module, "_block", block_of_another)
    remote = Store(0.5).fetch(store.address("list.csv"), tmp_path / "list.csv")
    assert (tmp_path / "list.csv").read_bytes() == content
    assert remote.version == Store(0.5).about(store.address("list.csv")).version


def test_a_folder_whose_copy_is_removed_is_received_again_and_stays_at_its_address(store: ObjectStore) -> None:
    here = copy_of(store.address("run"), FOLDERS)
    here.mkdir(parents=True)
    names = {"checkpoint", "train-1.index"}
    for name in names:
        (here / name).write_text(name)
    receive(here)
    send(here)
    shutil.rmtree(here)
    receive(here)
    assert {path.name for path in here.iterdir()} == names
    (here / "train-2.index").write_text("more")
    send(here)
    assert store.names("run/") == names | {"train-2.index"}


def test_a_file_of_a_folder_whose_copy_is_removed_is_received_again_and_stays_at_its_address(
    store: ObjectStore,
) -> None:
    Settings(0).write()
    here = copy_of(store.address("run"), FOLDERS)
    here.mkdir(parents=True)
    names = {"checkpoint", "train-1.index", "train-1.data-00000-of-00001"}
    for name in names:
        (here / name).write_text(name)
    send(here)
    (here / "checkpoint").write_text("not sent")
    (here / "train-0.index").write_text("not sent either")
    (here / "train-1.data-00000-of-00001").unlink()
    receive(here)
    assert (here / "train-1.data-00000-of-00001").read_text() == "train-1.data-00000-of-00001"
    send(here)
    assert store.names("run/") == names | {"train-0.index"}
    assert store.get("run/checkpoint") == b"not sent"
    (here / "train-0.index").unlink()
    store.faults.outage_until = time.monotonic() + 60
    with pytest.raises(StorageError):
        send(here)  # it is not removed at the address yet
    store.faults.outage_until = 0.0
    receive(here)
    send(here)
    assert store.names("run/") == names


def test_a_run_that_is_killed_while_it_receives_a_folder_receives_the_rest(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("train-1.data-00000-of-00001", "train-1.index", "checkpoint")
    for name in names:
        store.put(f"run/{name}", name.encode())
    here, fetch_really, saved = copy_of(store.address("run"), FOLDERS), Store.fetch, {}

    def fetch_or_be_killed(self: Store, address: str, path: Path) -> Remote:
        if address.endswith(".index"):
            saved.update({each: each.read_bytes() for each in (root() / "sent").glob("*.json")})
            raise KeyboardInterrupt
        return fetch_really(self, address, path)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Store, "fetch", fetch_or_be_killed)
        receive(here)
    for path in (root() / "sent").glob("*.json"):  # as it is when nothing more could be saved
        path.unlink()
    for path, content in saved.items():
        path.write_bytes(content)
    assert {path.name for path in here.iterdir()} == {names[0]}
    receive(here)
    assert {path.name for path in here.iterdir()} == set(names)


def test_a_folder_that_was_made_as_consoles_of_stores_make_them_is_received(store: ObjectStore) -> None:
    for name in ("run/", "run/graph/", "run/graph/events", "run/checkpoint"):
        store.put(name, b"" if name.endswith("/") else b"content")
    here = copy_of(store.address("run"), FOLDERS)
    receive(here, within=("graph",))
    assert {path.relative_to(here).as_posix() for path in here.rglob("*")} == {"graph", "graph/events", "checkpoint"}
    (here / "checkpoint").unlink()
    send(here)
    assert store.names("run/") == {"", "graph/", "graph/events"}


def test_summaries_that_could_not_be_sent_are_sent_by_the_next_run(store: ObjectStore) -> None:
    Settings(0).write()
    here = copy_of(store.address("summaries"), FOLDERS)
    here.mkdir(parents=True)

    def run(name: str) -> None:
        begin_empty(here)
        (here / name).write_text(name)
        send(here)

    run("events.1")
    store.faults.outage_until = time.monotonic() + 60
    with pytest.raises(StorageError):
        run("events.2")
    assert {path.name for path in here.iterdir()} == {"events.2"}
    store.faults.outage_until = 0.0
    run("events.3")
    assert store.names("summaries/") == {"events.1", "events.2", "events.3"}


def test_summaries_of_a_run_that_is_interrupted_are_sent(store: ObjectStore) -> None:
    options = local_copies_of("--train_files=a.csv", f"--summary_dir={store.address('summaries')}", "--summary_secs=1")
    with pytest.raises(KeyboardInterrupt), Summaries(options, {}, tf.Graph(), 0):
        raise KeyboardInterrupt
    assert len(store.names("summaries/")) == 1


def test_while_the_disk_is_full_copies_that_were_not_used_for_longest_go(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    Settings(10).write()
    for number in range(5):
        store.put(f"{number}.bin", bytes(1000))
    block = store_module._block

    def block_if_there_is_room(address: str, start: int, end: int, remote: Remote) -> bytes:
        if sum(each.stat().st_size for each in (root() / "files").rglob("*.bin")) + end - start > 3500:
            raise OSError(errno.ENOSPC, "No space left on device")
        return block(address, start, end, remote)

    monkeypatch.setattr(store_module, "_block", block_if_there_is_room)
    copies = [copy_of(store.address(f"{number}.bin")) for number in range(5)]
    for copy in copies:
        opened(copy).close()
    assert [each.exists() for each in copies] == [False, False, True, True, True]
    store.put("large.bin", bytes(10_000))
    with pytest.raises(StorageError) as raised:
        opened(copy_of(store.address("large.bin")))
    folder = copy_of(store.address("large.bin")).parent
    assert str(raised.value) == (
        f"s3://speech/large.bin: cannot be fetched to {folder} (No space left on device); "
        "free space there, or have XDG_CACHE_HOME name a larger disk"
    )
    assert not list((root() / "files").rglob(".*"))


class Expiring(BaseHTTPRequestHandler):
    """Answers, like S3, those who come with the access key "new", and tells all others that theirs has expired."""

    def do_HEAD(self) -> None:
        good = "Credential=new/" in self.headers.get("Authorization", "")
        error = b"<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"
        content = b"content" if good else error
        if good and self.headers.get("Range"):
            self.send_response(206)
        else:
            self.send_response(200 if good else 400)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Last-Modified", "Tue, 24 Nov 2026 00:00:00 GMT")
        self.send_header("ETag", '"1"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.usefixtures("store")
def test_missing_and_expired_credentials_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    credentials = tmp_path / "credentials"

    def write(key: str) -> None:
        credentials.write_text(f"[default]\naws_access_key_id = {key}\naws_secret_access_key = secret\n")

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(credentials))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with ThreadingHTTPServer(("127.0.0.1", 0), Expiring) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        forget("s3")
        try:
            with pytest.raises(StorageError, match=r"^s3://speech/a: .*; set AWS_ACCESS_KEY_ID and .*/credentials$"):
                Store(60).fetch("s3://speech/a", tmp_path / "a")
            write("old")
            began = time.monotonic()
            with pytest.raises(StorageError, match=r"^s3://speech/a: .*; are .* for s3:// right, and not expired\?$"):
                Store(60).fetch("s3://speech/a", tmp_path / "a")
            assert time.monotonic() - began < 30
            write("new")
            Store(60).fetch("s3://speech/a", tmp_path / "a")
            assert (tmp_path / "a").read_bytes() == b"content"
        finally:
            server.shutdown()
            forget("s3")


def test_a_cache_that_cannot_be_written_is_refused_in_one_line_that_says_how_to_name_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(BaseDirectory, "xdg_cache_home", str(tmp_path / "file"))
    with pytest.raises(StorageError, match=r"^.*/file/deepspeech/storage: .* \(Not a directory\); .* XDG_CACHE_HOME"):
        local_copies_of("--train_files=http://localhost:1/train.csv")


@pytest.mark.parametrize("flag", SENT)
def test_what_is_in_a_bucket_that_is_not_there_is_refused_before_training(flag: str, store: ObjectStore) -> None:
    lists = [f"--{each}_files={each}.csv" for each in ("train", "dev", "test")]
    with pytest.raises(FlagError, match=rf"^--{flag}=s3://none/run.h5: (there is no such|The specified) bucket"):
        local_copies_of(f"--{flag}=s3://none/run.h5", *lists)
    local_copies_of(f"--{flag}={store.address('run.h5')}", *lists)


def test_a_parameter_server_fetches_nothing_as_it_reads_nothing(store: ObjectStore) -> None:
    store.put("train.h5", b"features")
    cluster = ["--ps_hosts=a:1", "--worker_hosts=b:2", "--job_name=ps", "--scorer=http://[::1]:1/s"]
    cached = f"--train_cached_features_path={store.address('train.h5')}"
    options = local_copies_of(*cluster, f"--train_files={store.address('train.csv')}", cached)
    assert options.train.cached_features_path == copy_of(store.address("train.h5"), FOLDERS)
    assert not list(root().rglob("train.h5"))
