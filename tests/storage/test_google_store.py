"""Files at addresses of Google's store, of which an emulator is behind a proxy with faults."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from object_store import BUCKET, Faults, faulty_proxy
from round_trips import check_round_trips

from deepspeech.util.errors import StorageError
from deepspeech.util.storage.retries import retried
from deepspeech.util.storage.store import Store


@pytest.fixture(scope="module")
def faults() -> Iterator[Faults]:
    """Serve an empty bucket; return which of its requests fail."""
    pytest.importorskip("gcsfs")
    server_module = pytest.importorskip("gcp_storage_emulator.server")
    emulator = server_module.create_server("127.0.0.1", 0, in_memory=True, default_bucket=BUCKET)
    emulator.start()
    faults = Faults(slow_seconds=0.01, kinds=("503", "slow", "gone"))  # gcsfs asks for a minute for what was cut off
    with (
        faulty_proxy(emulator._api._httpd.server_address[:2], faults) as address,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("STORAGE_EMULATOR_HOST", address)
        yield faults
    emulator.stop()


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_files_are_sent_listed_fetched_and_removed(faults: Faults, tmp_path: Path, share: float) -> None:
    faults.share = share
    check_round_trips(f"gs://{BUCKET}/run", tmp_path)
    assert bool(faults.failed) == bool(share)


def test_a_bucket_that_is_not_there_is_named(faults: Faults, tmp_path: Path) -> None:
    faults.share = 0
    (tmp_path / "a.bin").write_bytes(b"content")
    with pytest.raises(StorageError, match=r"^gs://none/a.bin: there is no such bucket$"):
        Store(60).send(tmp_path / "a.bin", "gs://none/a.bin")
    for look in (Store(60).list, Store(60).check_bucket):
        with pytest.raises(StorageError, match=r"^gs://none/run: there is no such bucket$"):
            look("gs://none/run")
    with pytest.raises(FileNotFoundError):
        Store(60).about("gs://none/a.bin")
    assert Store(60).list(f"gs://{BUCKET}/none") == {}
    Store(60).check_bucket(f"gs://{BUCKET}/none")


def test_no_request_takes_grpc_which_not_every_network_lets_through(
    faults: Faults, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_grpc = pytest.importorskip("gcsfs.extended_gcsfs").ExtendedGcsFileSystem
    asked: list[str] = []
    original = with_grpc._get_bucket_type

    async def get_bucket_type(self: object, bucket: str) -> object:
        asked.append(bucket)
        return await original(self, bucket)

    monkeypatch.setattr(with_grpc, "_get_bucket_type", get_bucket_type)
    faults.share = 0
    (tmp_path / "a.bin").write_bytes(b"content")
    Store(60).send(tmp_path / "a.bin", f"gs://{BUCKET}/grpc/a.bin")
    Store(60).fetch(f"gs://{BUCKET}/grpc/a.bin", tmp_path / "b.bin")
    assert (tmp_path / "b.bin").read_bytes() == b"content"
    assert asked == []


@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_refusal_is_told_at_once_in_one_line(status: int) -> None:
    answers = pytest.importorskip("gcsfs.retry")
    tries = 0

    def ask() -> None:
        nonlocal tries
        tries += 1
        answers.validate_response(status, b'{"error": {"message": "invalid, as\\nyou may not"}}', "b/speech/o")

    with pytest.raises(StorageError, match=r"^gs://speech/a: .*invalid, as you may not.*$"):
        retried(ask, "gs://speech/a", 60)
    assert tries == 1
