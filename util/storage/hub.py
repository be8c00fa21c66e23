"""Files in repositories and buckets of the Hugging Face hub, such as hf://datasets/NAMESPACE/NAME/train.csv."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from huggingface_hub import HfApi, HfFileSystem, hf_hub_url
from huggingface_hub.utils import (
    EntryNotFoundError,
    build_hf_headers,
    disable_progress_bars,
    hf_raise_for_status,
    http_backoff,
)

COMMIT_MESSAGE = "Written by deepspeech"
NETWORK_SECONDS = 30
NOT_THERE = "there is no such repository, bucket or revision, or the token gives no access to it"


class HubFiles:
    """The hub's files, with the methods of fsspec's file systems that `Store` uses, for several threads.

    The hub's own file system for fsspec is used for its paths only: it remembers the folders that it has listed, so it
    does not see what other processes write, and it lists the whole folder of each file.

    Methods raise FileNotFoundError if a file, its repository or its revision does not exist.
    """

    def __init__(self) -> None:
        """Use the credentials of the environment, or those that the user has saved."""
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # it logs each retry
        disable_progress_bars()
        self._api = HfApi()
        self._paths = HfFileSystem(skip_instance_cache=True)

    def place(self, path: str) -> Any:
        """Return the repository or bucket of a path, and the path in it."""
        if "/" not in path:
            raise ValueError("an address on the hub is hf://datasets/NAMESPACE/NAME/file or of that form")
        try:
            return self._paths.resolve_path(path)
        except FileNotFoundError as error:
            raise FileNotFoundError(NOT_THERE) from error.__cause__

    def info(self, path: str) -> dict[str, Any]:
        """Return the name, type, size and version of a file or folder."""
        place = self.place(path)
        if bucket := _bucket(place):
            found = list(self._api.get_bucket_paths_info(bucket, [place.path]))
        else:
            found = self._api.get_paths_info(paths=[place.path_in_repo], **_repository(place))
        if not found:
            raise FileNotFoundError(path)
        return _described(found[0], path)

    def find(self, root: str, **_detail: bool) -> dict[str, dict[str, Any]]:
        """Return what `info` returns for each file below a folder, by its path; nothing if there is no such folder."""
        place = self.place(root)
        entries: Iterable[Any]
        if bucket := _bucket(place):
            inside, entries = place.path, self._api.list_bucket_tree(bucket, place.path, recursive=True)
        else:
            inside = place.path_in_repo
            entries = self._api.list_repo_tree(path_in_repo=inside, recursive=True, **_repository(place))
        above = root.removesuffix(inside).rstrip("/")
        try:
            found = [_described(each, f"{above}/{each.path}") for each in entries]
        except EntryNotFoundError:
            return {}
        return {each["name"]: each for each in found if each["type"] == "file"}

    def cat_file(self, path: str, start: int, end: int) -> bytes:
        """Return the bytes of a file from `start` to `end`, or to the file's own end."""
        headers = {**build_hf_headers(), "Range": f"bytes={start}-{end - 1}"}
        answer = http_backoff("GET", self._url(self.place(path)), headers=headers, timeout=NETWORK_SECONDS)
        hf_raise_for_status(answer)
        content: bytes = answer.content
        return content

    def put_file(self, here: str, path: str) -> None:
        """Send a file; in a repository, this is a commit."""
        place = self.place(path)
        try:
            if bucket := _bucket(place):
                self._api.batch_bucket_files(bucket, add=[(here, place.path)])
            else:
                names = {"path_or_fileobj": here, "path_in_repo": place.path_in_repo}
                self._api.upload_file(commit_message=COMMIT_MESSAGE, **names, **_repository(place))
        except RuntimeError as error:  # of hf_xet, which uploads large files
            raise OSError(str(error)) from error

    def rm_file(self, path: str) -> None:
        """Remove a file; in a repository, this is a commit."""
        place = self.place(path)
        if bucket := _bucket(place):
            self._api.batch_bucket_files(bucket, delete=[place.path])
            return
        try:
            self._api.delete_file(place.path_in_repo, commit_message=COMMIT_MESSAGE, **_repository(place))
        except EntryNotFoundError as error:
            raise FileNotFoundError(path) from error

    def _url(self, place: Any) -> str:
        if bucket := _bucket(place):
            return f"{self._api.endpoint}/buckets/{bucket}/resolve/{quote(place.path)}"
        url: str = hf_hub_url(filename=place.path_in_repo, endpoint=self._api.endpoint, **_repository(place))
        return url

    def _strip_protocol(self, address: str) -> str:
        return str(self._paths._strip_protocol(address))


def _bucket(place: Any) -> str | None:
    return getattr(place, "bucket_id", None)


def _repository(place: Any) -> dict[str, Any]:
    return {name: getattr(place, name) for name in ("repo_id", "repo_type", "revision")}


def _described(entry: Any, path: str) -> dict[str, Any]:
    """Return an entry of a list in fsspec's form; only files have a size."""
    size = getattr(entry, "size", None)
    version = getattr(entry, "blob_id", None) or getattr(entry, "xet_hash", None)
    return {"name": path, "type": "directory" if size is None else "file", "size": size, "blob_id": version}
