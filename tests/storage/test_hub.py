"""Files at addresses of a hub of repositories, of which an emulation is behind a proxy with faults."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from hub import BUCKET, REPOSITORY, Hub, serve
from object_store import Faults, faulty_proxy
from round_trips import check_round_trips

from deepspeech.util.errors import StorageError
from deepspeech.util.storage.file_systems import file_system
from deepspeech.util.storage.store import Store

RUN = f"hf://{REPOSITORY}/run"


@pytest.fixture(scope="module")
def faults(hub: Hub) -> Iterator[Faults]:
    """Serve the hub; return which of its requests fail."""
    faults = Faults(slow_seconds=0.01)
    with (
        serve(hub) as upstream,
        faulty_proxy(upstream, faults) as address,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("HF_ENDPOINT", address)
        patch.setenv("HF_HUB_DISABLE_XET", "1")
        forget_library()
        pytest.importorskip("huggingface_hub")
        yield faults
    forget_library()


def forget_library() -> None:
    """Have huggingface_hub imported again, as it reads the environment only then."""
    file_system.cache_clear()
    for name in [each for each in sys.modules if each.partition(".")[0] == "huggingface_hub"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def hub() -> Hub:
    return Hub()


@pytest.fixture(autouse=True)
def without_faults(hub: Hub, faults: Faults) -> None:
    faults.share, hub.token, hub.conflicts, hub.page = 0.0, "", 0, 1000
    hub.files.clear()


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_files_are_sent_listed_fetched_and_removed(hub: Hub, faults: Faults, tmp_path: Path, share: float) -> None:
    faults.share = share
    check_round_trips(RUN, tmp_path)
    Store(60).remove(f"{RUN}/none.bin")
    assert not hub.files


def test_what_others_write_is_seen(hub: Hub, tmp_path: Path) -> None:
    hub.files["run/a.bin"] = b"abc"
    first = Store(60).about(f"{RUN}/a.bin")
    hub.files["run/a.bin"] = b"abcdef"
    assert Store(60).about(f"{RUN}/a.bin") != first
    assert set(Store(60).list(RUN)) == {"a.bin"}
    hub.files["run/below/b.bin"] = b"abc"
    assert set(Store(60).list(RUN)) == {"a.bin", "below/b.bin"}
    with pytest.raises(FileNotFoundError):
        Store(60).about(f"{RUN}/below")
    Store(60).fetch(f"{RUN}/a.bin", tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == b"abcdef"


def test_long_lists_come_in_pages(hub: Hub) -> None:
    hub.page = 7
    hub.files.update({f"run/{number}/a.bin": b"abc" for number in range(30)})
    assert set(Store(60).list(RUN)) == {f"{number}/a.bin" for number in range(30)}
    assert set(Store(60).list(f"hf://{REPOSITORY}")) == set(hub.files)


def test_a_file_is_sent_again_after_another_commit_came_first(hub: Hub, tmp_path: Path) -> None:
    hub.conflicts = 2
    (tmp_path / "a.bin").write_bytes(b"content")
    Store(60).send(tmp_path / "a.bin", f"{RUN}/a.bin")
    assert hub.files == {"run/a.bin": b"content"}


def test_a_bucket_is_read_and_files_are_removed_from_it(hub: Hub, tmp_path: Path) -> None:
    if not hasattr(import_module("huggingface_hub.hf_file_system"), "HfFileSystemResolvedBucketPath"):
        pytest.skip("this huggingface_hub knows no addresses of buckets")
    hub.files.update({"run/a b.bin": b"content", "run/below/b.bin": b""})
    assert set(Store(60).list(f"hf://buckets/{BUCKET}/run")) == {"a b.bin", "below/b.bin"}
    Store(60).fetch(f"hf://buckets/{BUCKET}/run/a b.bin", tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == b"content"
    Store(60).remove(f"hf://buckets/{BUCKET}/run/a b.bin")
    assert set(hub.files) == {"run/below/b.bin"}


@pytest.mark.parametrize("address", ["hf://datasets/people/none/run", f"hf://{REPOSITORY}@none/run"])
def test_a_repository_that_is_not_there_is_named_at_once(address: str, tmp_path: Path) -> None:
    expected = f"^{address}(/a.bin)?: there is no such repository, bucket or revision, or the token"
    (tmp_path / "a.bin").write_bytes(b"content")
    with pytest.raises(StorageError, match=expected):
        Store(60).list(address)
    with pytest.raises(StorageError, match=expected):
        Store(60).check_bucket(address)
    with pytest.raises(StorageError, match=expected):
        Store(60).send(tmp_path / "a.bin", f"{address}/a.bin")
    with pytest.raises(FileNotFoundError):
        Store(60).about(f"{address}/a.bin")
    Store(60).check_bucket(RUN)


def test_an_address_without_a_repository_is_refused() -> None:
    with pytest.raises(StorageError, match=r"^hf://speech: an address on the hub is hf://datasets/NAMESPACE/NAME/file"):
        Store(60).about("hf://speech")


def test_a_token_that_is_replaced_is_used(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.files["run/a.bin"] = b"abc"
    hub.token = "right"
    monkeypatch.setenv("HF_TOKEN", "wrong")
    with pytest.raises(StorageError, match=r"are the credentials for hf:// right, and not expired\?$"):
        Store(60).about(f"{RUN}/a.bin")
    monkeypatch.setenv("HF_TOKEN", "right")
    assert Store(60).about(f"{RUN}/a.bin").size == 3


def test_a_hub_that_is_gone_is_named_in_one_line(faults: Faults) -> None:
    faults.outage_until = float("inf")
    with pytest.raises(StorageError, match=r"^hf://.*/run/a.bin: .*; tried for 0 seconds$"):
        Store(0).about(f"{RUN}/a.bin")
    faults.outage_until = 0.0
