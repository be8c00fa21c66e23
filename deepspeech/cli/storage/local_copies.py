"""A run whose flags name addresses: it works on local copies, and sends what it writes."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ...checkpoints.folder_reading import resumes
from ...errors import FlagError, StorageError
from ...export.folder import check_files
from ...options import Options, items_of, with_values
from ...util.storage.addresses import READ_ONLY, address_of, scheme_of, without_user
from ...util.storage.copies import FILES, FOLDERS, INPUTS, copy_of, fetch_missing, original_of, refresh, root
from ...util.storage.file_systems import check_available
from ...util.storage.folders import begin_empty, receive, receive_file, send, send_file
from .addresses import SET_FLAGS, addresses_in

LOADED = "load_checkpoint_dir"
"""The flag of a folder of checkpoints that is only read."""
TWO_WAY_FOLDERS = ("checkpoint_dir", "save_checkpoint_dir", LOADED)
WITHIN = ("graph",)
"""The folders that belong to a folder of checkpoints. Its other contents are not received with it."""
INITIAL = ("initialize_from_weights", "initialize_from_frozen_model")
"""What training begins with, unless it resumes."""
CACHES = ("train_cached_features_path", "dev_cached_features_path", "test_cached_features_path")
WRITTEN_FOLDERS = ("export_dir", "summary_dir", "report_dir")
WRITTEN_FILES = ("test_output_file",)
NOT_LISTED = (*CACHES, *WRITTEN_FOLDERS, *WRITTEN_FILES)
"""Flags whose addresses are not listed at the start, which would show that a bucket is missing."""
SENT = (*TWO_WAY_FOLDERS, *NOT_LISTED)


def with_local_copies(options: Options, with_folders: Callable[[Options], Options] = lambda local: local) -> Options:
    """Return the options with paths of local copies in place of addresses; fetch existing files that are needed now.

    `with_folders` completes the options with default folders, which decide what is needed. Raise what it raises,
    FlagError, in one line that names the flag and the address, or StorageError.
    """
    addresses = list(addresses_in(options))
    for name, address in addresses:
        _check(name, address)
    local = with_values(options, {row.name: _local(row.name, value) for row, value in items_of(options)})
    local = with_folders(local)
    if not addresses:
        return local
    if options.cluster.job_name == "ps":
        return local  # it reads and writes none of them
    try:
        options.storage.settings.write()
    except OSError as error:
        reason = f"{root()}: copies of files at addresses cannot be written there ({error.strerror})"
        raise StorageError(f"{reason}; set XDG_CACHE_HOME to another folder") from error
    for name, address in sorted(addresses, key=lambda each: each[0] in INITIAL):
        if name in INITIAL and resumes(local.checkpoints):
            continue
        try:
            if name in NOT_LISTED and options.leads:
                options.storage.settings.store.check_bucket(address)
            _fetch(local, name, copy_of(address, _kind(name)), leads=options.leads)
        except StorageError as error:
            raise _refusal(name, address, str(error)) from error
    return local


def send_what_was_written(options: Options) -> None:
    """Send the folders and files that the run wrote to their addresses; raise StorageError."""
    if not options.leads:
        return
    values = {row.name: value for row, value in items_of(options)}
    for name in SENT:
        path = values[name]
        if not isinstance(path, Path) or original_of(path) is None or name == LOADED:
            continue
        try:
            if name in (*CACHES, *WRITTEN_FILES):
                send_file(path)
            else:
                send(path)
        except StorageError as error:
            raise StorageError(f"{error}; it is kept in {path}: run the same command again") from error


def _check(name: str, address: str) -> None:
    try:
        check_available(address)
        copy_of(address)
    except StorageError as error:
        raise _refusal(name, address, str(error)) from error
    if name in SENT and name != LOADED and scheme_of(address) in READ_ONLY:
        raise _refusal(name, address, "can only be read; name an s3://, gs:// or hf:// address, or a local path")


def _local(name: str, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_local(name, each) for each in value)
    address = address_of(value) if isinstance(value, Path) else None
    return value if address is None else copy_of(address, _kind(name))


def _kind(name: str) -> str:
    """Return the kind of the copies for a flag."""
    if name in SENT:
        return FOLDERS
    return FILES if name in SET_FLAGS else INPUTS


def _fetch(options: Options, name: str, path: Path, *, leads: bool) -> None:
    """Fetch what is needed of a flag's copy before the copy is read."""
    if name in SET_FLAGS:
        return
    if name in CACHES:
        receive_file(path)
    elif name in SENT and not leads:
        return  # the chief writes it, perhaps on this machine
    elif name in WRITTEN_FILES:
        path.parent.mkdir(parents=True, exist_ok=True)
    elif name in TWO_WAY_FOLDERS:
        receive(path, within=WITHIN, only_read=name == LOADED)
    elif path in [value for row, value in items_of(options) if row.name in TWO_WAY_FOLDERS]:
        return  # it is received as a folder of checkpoints, which stay
    elif name == "export_dir":
        begin_empty(path, partial(check_files, path) if options.export.remove else None)
    elif name in SENT:
        begin_empty(path)
    else:
        refresh(path)
        fetch_missing(path)


def _refusal(name: str, address: str, why: str) -> FlagError:
    """Return the error for a flag; `why` may begin with the address, as the messages of StorageError do."""
    named = without_user(address)
    return FlagError(f"--{name}={named}: {why.removeprefix(f'{named}: ')}")
