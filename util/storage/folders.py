"""Synchronizes folders with their addresses: those of checkpoints, exports, summaries and reports.

Files are sent in an order in which a reader of the address never finds an incomplete checkpoint: its data and its
description, then its index, and last the file that names the newest checkpoint. Each file appears at once. Files that
were sent or received are remembered: so only changed files are sent again, and changes that another program made at
the address are detected.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ..errors import StorageError
from ..files.whole_files import write_whole
from .copies import Settings, original_of, root
from .retries import TruncatedError, retried
from .store import Remote, Store

log = logging.getLogger(__name__)

_NOT_SENT = re.compile(r"\..*|.+\.tempstate\d+|.+_temp.*|.+\.partial")
"""Names of files and folders that only this machine needs, or that are unfinished."""

_NAMES_ANOTHER = ("checkpoint", "best_dev_checkpoint")
"""Files that name others, which must be sent before them."""


@dataclass(frozen=True)
class _Known:
    """A file's state when it was last the same here and at its address."""

    version: str
    size: int
    modified_ns: int


def receive(folder: Path, *, within: Collection[str] = (), only_read: bool = False) -> None:
    """Make a folder that is a copy the same as its address, which may be empty; do nothing for any other folder.

    Of subfolders, only those `within`, and files that were sent from here, are received: an address may be a bucket
    that also holds a corpus. Files that could not be sent stay, to be sent the next time; files that were removed only
    here are received again. Raise StorageError if the address cannot be read, or if it was changed from elsewhere while
    files here are unsent, unless the folder is `only_read`, that is, never sent.
    """
    if (address := original_of(folder)) is not None:
        settings = Settings.read()
        retried(partial(_receive, folder, address, settings.store, within, only_read), address, settings.retry_seconds)


def _receive(folder: Path, address: str, store: Store, within: Collection[str], only_read: bool) -> None:
    with _remembered(address) as memory:
        known, here = memory.known, _files_of(folder, address)
        remote = {
            name: each
            for name, each in _listed(store, address).items()
            if name in known or "/" not in name or name.partition("/")[0] in within
        }

        def fetch(name: str) -> None:
            try:
                known[name] = _fetch(store, f"{address}/{name}", folder / name)
            except FileNotFoundError as error:
                raise TruncatedError(f"{name} was removed there while the folder was fetched") from error
            memory.save()  # else, after a kill, received files here would look like new files of this machine

        for name in sorted(memory.recognize(remote, here), key=_order):
            fetch(name)
        if _versions(remote) == _versions(known):
            return
        unsent = [name for name in here if _state(folder / name) != _of(known.get(name))]
        if unsent and not only_read:
            raise StorageError(
                f"{address}: was changed from elsewhere, and {folder} holds {len(unsent)} files that were not sent, "
                f"such as {unsent[0]}; remove {folder} to go on from the address, or name another one"
            )
        for name in sorted(here - remote.keys(), key=_order, reverse=True):
            (folder / name).unlink()
            known.pop(name, None)
        for name in sorted(remote, key=_order):
            if name not in known or known[name].version != remote[name].version or not (folder / name).exists():
                fetch(name)
        for name in known.keys() - remote.keys():
            del known[name]
    log.info("Received %d files from %s", len(remote), address)


def send(folder: Path) -> None:
    """Make the address of a folder that is a copy the same as the folder; do nothing for any other folder.

    Files that were sent before and are no longer here are removed there. Raise StorageError; the next call continues.
    """
    address = original_of(folder)
    if address is None:
        return
    store = Settings.read().store
    with _remembered(address) as memory:
        known, here = memory.known, _files_of(folder, address)
        states = {name: state for name in here if (state := _state(folder / name)) is not None}
        memory.sending = {name: state for name, state in states.items() if state != _of(known.get(name))}
        memory.removing = known.keys() - here
        if memory.sending or memory.removing:
            memory.save()
        for name in sorted(memory.sending, key=_order):
            remote = store.send(folder / name, f"{address}/{name}")
            known[name] = _Known(remote.version, *memory.sending[name])
        for name in sorted(memory.removing, key=_order, reverse=True):
            store.remove(f"{address}/{name}")
            del known[name]


def try_to_send(path: Path) -> None:
    """Send a folder or a file like `send` and `send_file`; if that fails, log that it is sent later."""
    try:
        if path.is_dir():
            send(path)
        else:
            send_file(path)
    except StorageError as error:
        log.warning("%s; %s stays here, and is sent later", error, path)


def begin_empty(folder: Path, check: Callable[[set[str]], None] | None = None) -> None:
    """Empty the copy of a folder that is only written; files at the address, and unsent files here, stay.

    With a `check`, which takes the names of the files at the address and may raise an error, unsent files are removed
    at once, too, and the next `send` removes the files at the address.
    """
    address = original_of(folder)
    if address is None:
        return
    remote: dict[str, Remote] = {}
    if check is not None:
        remote = _listed(Settings.read().store, address)
        check(set(remote))
    with _remembered(address) as memory:
        for name in _files_of(folder, address):
            if check is not None or _state(folder / name) == _of(memory.known.get(name)):
                (folder / name).unlink()
        memory.known = {name: _Known(each.version, -1, -1) for name, each in remote.items()}


def receive_file(path: Path) -> None:
    """Make a file that is a kept copy the same as the file at its address; if there is none, leave it unchanged."""
    address = original_of(path)
    if address is None:
        return
    store = Settings.read().store
    with _remembered(address) as memory:
        known = memory.known
        try:
            remote = store.about(address)
        except FileNotFoundError:
            return
        if not path.exists() or remote.version != (known[""].version if "" in known else None):
            known[""] = _fetch(store, address, path)


def send_file(path: Path) -> None:
    """Send a file that is a kept copy to its address if it has changed; ignore other files. Raise StorageError."""
    address = original_of(path)
    if address is None:
        return
    with _remembered(address) as memory:
        known, state = memory.known, _state(path)
        if state is not None and state != _of(known.get("")):
            known[""] = _Known(Settings.read().store.send(path, address).version, *state)


def _versions(files: Mapping[str, Remote] | Mapping[str, _Known]) -> dict[str, str]:
    return {name: each.version for name, each in files.items()}


def _fetch(store: Store, address: str, path: Path) -> _Known:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part-received")
    try:
        remote = store.fetch(address, part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    state = _state(path)
    assert state is not None
    return _Known(remote.version, *state)


def _listed(store: Store, address: str) -> dict[str, Remote]:
    return {name: each for name, each in store.list(address).items() if _is_kept_at(address, name)}


def _files_of(folder: Path, address: str) -> set[str]:
    """Return the relative names of the files in a folder that belong to its address."""
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name for name in names if _is_kept_at(address, name)}


def _is_kept_at(address: str, name: str) -> bool:
    """Return whether a file belongs to the folder of an address; not if it, or a folder in between, is kept separately.

    So summaries may be at an address below that of the checkpoints, such as `s3://bucket/run/summaries`.
    """
    parts = name.split("/")
    within = ("/".join((address, *parts[:count])) for count in range(1, len(parts) + 1))
    return not (any(map(_NOT_SENT.fullmatch, parts)) or any(_memory_of(each).exists() for each in within))


def _order(name: str) -> tuple[int, str]:
    """Return a file's place in the order of sending: before all files that name it."""
    if name in _NAMES_ANOTHER:
        return 3, name
    if name.endswith(".index"):
        return 2, name
    return (0 if ".data-" in name else 1), name


def _state(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns


def _of(known: _Known | None) -> tuple[int, int] | None:
    return None if known is None else (known.size, known.modified_ns)


@dataclass
class _Memory:
    """The known state of the files of an address: when last the same here and there, and what is being sent."""

    path: Path
    known: dict[str, _Known] = field(default_factory=dict)
    sending: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The size and the modification time of files; a process that was killed may have sent some of them."""
    removing: Set[str] = frozenset()
    """Files that were removed here; a process that was killed may have removed some of them there."""

    def load(self) -> None:
        """Read the saved state; if that fails, nothing is known."""
        try:
            values = json.loads(self.path.read_text(encoding="utf-8"))
            self.known = {name: _Known(*each) for name, each in values["known"].items()}
            self.sending = {name: (each[0], each[1]) for name, each in values["sending"].items()}
            self.removing = frozenset(values.get("removing", ()))
        except (OSError, ValueError, TypeError, KeyError):
            self.known, self.sending, self.removing = {}, {}, frozenset()

    def save(self) -> None:
        """Write the state."""
        states = {name: (each.version, each.size, each.modified_ns) for name, each in self.known.items()}
        values = {"known": states, "sending": self.sending, "removing": sorted(self.removing)}
        write_whole(self.path, json.dumps(values).encode())

    def recognize(self, remote: Mapping[str, Remote], here: set[str]) -> Set[str]:
        """Recognize changes at the address that an interrupted `send` of this machine made, and take them as known.

        Return the files that were removed only here.
        """
        for name, state in self.sending.items():
            before = self.known.get(name)
            changed = name in remote and (before is None or before.version != remote[name].version)
            if changed and remote[name].size == state[0]:
                self.known[name] = _Known(remote[name].version, *state)
        self.sending = {}
        for name in self.known.keys() - remote.keys() - here:
            del self.known[name]
        return self.known.keys() - here - self.removing


def _memory_of(address: str) -> Path:
    return root() / "sent" / f"{hashlib.sha256(address.encode()).hexdigest()[:32]}.json"


@contextmanager
def _remembered(address: str) -> Iterator[_Memory]:
    """Yield the known state of the files of an address, and save it at the end of the block.

    Other processes that need the same address wait.
    """
    path = _memory_of(address)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        memory = _Memory(path)
        memory.load()
        memory.known = {name: each for name, each in memory.known.items() if _is_kept_at(address, name)}
        try:
            yield memory
            memory.sending, memory.removing = {}, frozenset()
        finally:
            memory.save()
