"""Files at addresses: fetched, kept within a limit, sent in an order in which nothing half-written is seen."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from corpora import TinyCorpus
from object_store import ObjectStore

from deepspeech.cli import flags
from deepspeech.cli.storage.local_copies import send_what_was_written, with_local_copies
from deepspeech.export.folder import write_export
from deepspeech.options import Options
from deepspeech.util.corpus import read_corpus
from deepspeech.util.corpus_files import further_columns
from deepspeech.util.errors import CorpusError, ExportError, FlagError, StorageError
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.feeding import OnTheFly
from deepspeech.util.files.opening import opened
from deepspeech.util.files.user_paths import user_path
from deepspeech.util.storage.addresses import address_of
from deepspeech.util.storage.copies import FILES, FOLDERS, INPUTS, Settings, copy_of, original_of, root
from deepspeech.util.storage.folders import receive, send
from deepspeech.util.storage.store import Store
from deepspeech.util.text import Alphabet

pytest_plugins = ["store_fixtures"]

MFCC = front_end(FeatureOptions(feature_type="psf"))


def options(*arguments: str) -> Options:
    parsed = flags.parse([*arguments, "--validation_step=0"])
    assert parsed is not None
    return parsed


@pytest.mark.usefixtures("store")
def test_an_address_survives_being_a_path_and_a_copy_says_whose_it_is() -> None:
    assert address_of(Path("s3://bucket/a/b.csv")) == "s3://bucket/a/b.csv"
    assert address_of(Path("S3://bucket/A.csv")) == "s3://bucket/A.csv"
    assert address_of("/data/s3:/x") is None
    assert address_of(Path("C:/x")) is None
    assert user_path("file:///data/a%20b.csv") == user_path("File:///data/a%20b.csv") == Path("/data/a b.csv")
    for kind in (FILES, INPUTS, FOLDERS):
        assert original_of(copy_of("s3://bucket/a/b.csv", kind)) == "s3://bucket/a/b.csv"
    assert original_of(copy_of("s3://bucket/a/b.csv").parent / "../c.wav") == "s3://bucket/c.wav"
    assert original_of("/elsewhere/s3/bucket") is None
    with pytest.raises(StorageError, match="is not an address"):
        copy_of("s3://bucket/../../x")


def test_files_arrive_whole_and_are_sent_through_failing_requests(store: ObjectStore, tmp_path: Path) -> None:
    content = os.urandom(300_000)
    store.put("a.bin", content)
    store.faults.share, store.faults.slow_seconds = 0.5, 0.01
    for number in range(6):
        Store(60).fetch(store.address("a.bin"), tmp_path / "a.bin")
        assert (tmp_path / "a.bin").read_bytes() == content
        Store(60).send(tmp_path / "a.bin", store.address(f"{number}.bin"))
        assert store.get(f"{number}.bin") == content
    assert set(store.faults.failed) == {"503", "truncated", "slow", "gone"}


def test_an_outage_is_waited_for_and_one_that_is_too_long_is_one_line(store: ObjectStore, tmp_path: Path) -> None:
    store.put("a.bin", b"content")
    store.faults.outage_until = time.monotonic() + 1
    Store(60).fetch(store.address("a.bin"), tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == b"content"
    store.faults.outage_until = time.monotonic() + 600
    with pytest.raises(StorageError, match=r"^s3://speech/a.bin: .*; tried for 0.2 seconds$"):
        Store(0.2).about(store.address("a.bin"))
    store.faults.outage_until = 0
    with pytest.raises(FileNotFoundError):
        Store(60).about(store.address("none"))
    with pytest.raises(StorageError, match=r"^s3://none/a: The specified bucket does not exist$"):
        Store(60).send(tmp_path / "a.bin", "s3://none/a")


def test_copies_that_were_not_used_for_longest_go_when_space_is_needed(store: ObjectStore) -> None:
    Settings(10, 3_000).write()
    copies = []
    for number in range(8):
        store.put(f"{number}.bin", bytes(800))
        copies.append(copy_of(store.address(f"{number}.bin")))
        opened(copies[-1]).close()
        os.utime(copies[0], ns=(time.time_ns(), copies[0].stat().st_mtime_ns))
        assert sum(each.stat().st_size for each in copies if each.exists()) <= 3_000
    assert [each.exists() for each in copies[-2:]] == [True, True]
    assert copies[0].exists()  # it was used all the time
    assert not any(each.exists() for each in copies[1:5])
    assert opened(copies[1]).readall() == bytes(800)
    assert not list((root() / "files").rglob(".*"))


def test_what_a_run_needs_until_its_end_stays_when_recordings_take_all_space(
    store: ObjectStore, tiny_corpus: TinyCorpus
) -> None:
    store.put("corpus/alphabet.txt", tiny_corpus.alphabet.read_bytes())
    store.put("corpus/weights.h5", bytes(800))
    local = with_local_copies(
        options(
            f"--alphabet_config_path={store.address('corpus/alphabet.txt')}",
            f"--initialize_from_weights={store.address('corpus/weights.h5')}",
            f"--train_files={tiny_corpus.train}",
            "--storage_cache_gb=0.000002",
        )
    )
    for number in range(4):
        store.put(f"corpus/{number}.wav", bytes(800))
        opened(copy_of(store.address(f"corpus/{number}.wav"))).close()
    assert len(list((root() / "files").rglob("*.wav"))) < 4
    assert local.load_alphabet().size == 6
    assert local.checkpoints.initial_weights is not None
    assert local.checkpoints.initial_weights.exists()


def test_the_further_columns_of_a_list_whose_copy_is_gone_are_read(store: ObjectStore) -> None:
    store.put("corpus/train.csv", b"wav_filename,transcript,speaker\na.wav,a,Ann\n")
    assert list(further_columns(str(copy_of(store.address("corpus/train.csv"))))) == [(2, {"speaker": "Ann"})]


def test_threads_get_the_copies_that_they_want_though_there_is_space_for_one(store: ObjectStore) -> None:
    Settings(10, 1_000).write()
    contents = {}
    for number in range(4):
        contents[copy_of(store.address(f"{number}.bin"))] = content = os.urandom(800)
        store.put(f"{number}.bin", content)
    paths = 20 * list(contents)

    def read(path: Path) -> bytes:
        with opened(path) as file:
            return file.readall()

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(read, paths)) == [contents[path] for path in paths]


def test_a_corpus_is_read_at_its_address(store: ObjectStore, tiny_corpus: TinyCorpus) -> None:
    folder = tiny_corpus.test.parent
    for path in (tiny_corpus.test, *folder.glob("wav/test-*")):
        store.put(f"corpus/{path.relative_to(folder)}", path.read_bytes())
    labels = Alphabet.load(tiny_corpus.alphabet)
    ours = read_corpus([Path(store.address("corpus/test.csv"))], labels, MFCC, progress=False)
    theirs = read_corpus([tiny_corpus.test], labels, MFCC, progress=False)
    assert [(each.samples, each.transcript) for each in ours] == [(each.samples, each.transcript) for each in theirs]
    Path(ours[0].path).unlink()
    assert len(OnTheFly(ours, MFCC).features(0)) == ours[0].frames
    rows = tiny_corpus.test.read_text().replace("wav/", "s3://speech/corpus/wav/").splitlines()
    listed = root().parent / "local.csv"
    listed.write_text("\n".join([*rows, "s3://speech/corpus/wav/none.wav,1,a"]) + "\n")
    with pytest.raises(CorpusError) as caught:
        read_corpus([listed], labels, MFCC, progress=False)
    assert [str(row).rpartition(": ")[2] for row in caught.value.bad_rows] == ["No such file or directory"]


def test_a_folder_is_sent_and_received_and_changes_from_elsewhere_are_not_overwritten(store: ObjectStore) -> None:
    Settings(10, 0).write()
    here = copy_of(store.address("run"), FOLDERS)
    receive(here)
    here.mkdir(parents=True)
    for name in ("checkpoint", "train-1.index", "train-1.data-00000-of-00001", "train-1.json", ".lock", "x.part-1"):
        (here / name).write_text(name)
    (here / ".params.part-7").write_text("")
    send(here)
    sent = {"checkpoint", "train-1.index", "train-1.data-00000-of-00001", "train-1.json"}
    assert store.names("run/") - {"x.part-1"} == sent
    (here / "train-1.index").unlink()
    (here / "checkpoint").write_text("changed")
    requests = store.faults.requests
    send(here)
    assert store.faults.requests - requests <= 4  # what has not changed is not sent again
    assert store.get("run/checkpoint") == b"changed"
    assert "train-1.index" not in store.names("run/")
    store.put("run/checkpoint", b"from elsewhere")
    receive(here)
    assert (here / "checkpoint").read_text() == "from elsewhere"
    (here / "checkpoint").write_text("not sent")
    store.put("run/checkpoint", b"from elsewhere again")
    with pytest.raises(StorageError, match=r"was changed from elsewhere, and .* holds 1 files that were not sent"):
        receive(here)
    receive(here, only_read=True)
    assert (here / "checkpoint").read_text() == "from elsewhere again"


def test_an_export_takes_the_place_of_an_older_one_only_if_all_of_that_was_an_export(store: ObjectStore) -> None:
    for name in ("output_graph.pb", "alphabet.txt", "model.md"):
        store.put(f"export/{name}", b"old")
    run = with_local_copies(options("--remove_export", f"--export_dir={store.address('export')}"))
    folder = run.export.directory
    assert folder is not None
    write_export(folder, {"output_graph.pb": b"new"}, "card", remove=True)
    assert store.names("export/") == {"output_graph.pb", "alphabet.txt", "model.md"}
    send_what_was_written(run)
    assert store.names("export/") == {"output_graph.pb", "model.md"}
    assert store.get("export/output_graph.pb") == b"new"
    store.put("export/thesis.txt", b"")
    with pytest.raises(ExportError, match=r"is not an export: it also holds 'thesis.txt'"):
        with_local_copies(options("--remove_export", f"--export_dir={store.address('export')}"))


def test_a_run_that_is_killed_while_it_sends_goes_on_from_its_own_files(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = copy_of(store.address("run"), FOLDERS)
    here.mkdir(parents=True)
    (here / "checkpoint").write_text("train-1")
    (here / "train-1.index").write_text("one")
    receive(here)  # nothing was sent yet
    send(here)
    (here / "train-1.index").unlink()
    (here / "train-2.index").write_text("two")
    (here / "checkpoint").write_text("train-2")
    send_really, saved = Store.send, {}

    def send_and_be_killed(self: Store, path: Path, address: str) -> object:
        send_really(self, path, address)
        saved.update({each: each.read_bytes() for each in (root() / "sent").glob("*.json")})
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Store, "send", send_and_be_killed)
        send(here)
    for path, content in saved.items():  # as it is when nothing more could be saved
        path.write_bytes(content)
    assert store.names("run/") == {"checkpoint", "train-1.index", "train-2.index"}
    receive(here)
    assert (here / "checkpoint").read_text() == "train-2"
    send(here)
    assert store.names("run/") == {"checkpoint", "train-2.index"}
    assert store.get("run/checkpoint") == b"train-2"


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("train_files=ftp://host/a.csv", "ftp: an address begins with s3://, gs://, hf://, http://, https:// or file:"),
        ("checkpoint_dir=https://host/run", "can only be read; name an s3://, gs:// or hf:// address, or a local path"),
        ("checkpoint_dir=s3://", "is not an address of a file or folder"),
        ("train_files=s3:///", "is not an address of a file or folder"),
        ("alphabet_config_path=s3://speech/none.txt", "there is no such file"),
        (
            f"dev_files=https://host/{'a' * 221}",
            "a name in it is longer than the 220 bytes of a copy here; give a shorter one",
        ),
        ("experiment=auto --work=s3://speech/work", "must be on this machine"),
        (
            "experiment=auto --from=https://a:b@host/a.csv",
            "must be on this machine; --train_files takes the addresses of lists, and import_corpus that of a folder",
        ),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_in_one_line(flag: str, message: str) -> None:
    with pytest.raises(FlagError) as caught:
        with_local_copies(options(*f"--{flag} --export_dir=x".split(" ")))
    told = flag.rpartition("--")[2].replace(":///", "://").replace("a:b@", "")
    assert str(caught.value) == f"--{told}: {message}"


def test_a_worker_that_starts_beside_the_chief_leaves_what_that_writes(
    store: ObjectStore, tiny_corpus: TinyCorpus
) -> None:
    def node(task: int) -> Options:
        cluster = ["--ps_hosts=a:1", "--worker_hosts=b:2,c:3", "--job_name=worker", f"--task_index={task}"]
        folders = [f"--{name}_dir={store.address(name)}" for name in ("summary", "export", "checkpoint")]
        return with_local_copies(options(f"--train_files={tiny_corpus.train}", *cluster, *folders))

    chief = node(0)
    written = [folder / "written" for folder in (chief.summaries.directory, chief.export.directory) if folder]
    for path in written:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"by the chief")
    node(1)
    assert [path.exists() for path in written] == [True, True]


def test_without_the_extra_an_address_is_refused_in_one_line_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "fsspec.py").write_text("raise ImportError('not here')")
    command = [sys.executable, "-m", "deepspeech", "--train_files=s3://bucket/train.csv", "--validation_step=0"]
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 1
    assert done.stderr == (
        "deepspeech: --train_files=s3://bucket/train.csv: s3:// needs s3fs: install this package with its extra "
        "`remote`, pip install '.[remote]' in a checkout or pip install './deepspeech-….whl[remote]' "
        "with a wheel file\n"
    )
