"""Files and folders that are complete or do not exist."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from running import files_no_larger_than

from deepspeech.util.files.whole_files import folder_written_whole, write_all_whole, write_whole, written_whole


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_file_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    write_whole(tmp_path / "file", b"old")
    write_whole(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert names(tmp_path) == {"file"}


def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    write_whole(tmp_path / "file", b"old")
    with pytest.raises(ValueError, match="half"), written_whole(tmp_path / "file") as beside:
        beside.write_bytes(b"ne")
        raise ValueError("half")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert names(tmp_path) == {"file"}


def test_an_error_names_the_file_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("none/file", "folder"):
        with pytest.raises(OSError, match="directory") as caught:
            write_whole(tmp_path / name, b"new")
        assert caught.value.filename == str(tmp_path / name)
    with files_no_larger_than(4096), pytest.raises(OSError, match="File too large") as caught:
        write_whole(tmp_path / "file", bytes(5000))
    assert caught.value.filename == str(tmp_path / "file")
    with files_no_larger_than(4096), pytest.raises(OSError, match="File too large") as caught:
        write_all_whole(tmp_path, {"small": b"", "large": bytes(5000)})
    assert caught.value.filename == str(tmp_path / "large")
    with (
        files_no_larger_than(4096),
        pytest.raises(OSError, match="File too large") as caught,
        folder_written_whole(tmp_path / "new") as beside,
    ):
        (beside / "file").write_bytes(bytes(5000))
    assert caught.value.filename == str(tmp_path / "new")
    assert names(tmp_path) == {"folder"}


def test_an_error_of_a_disk_that_can_only_be_read_names_the_file_that_is_wanted(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for write in (write_whole, lambda path, data: write_all_whole(path.parent, {path.name: data})):
        with pytest.raises(OSError, match="Read-only file system") as caught:
            write(small_disk / "file", b"new")
        assert caught.value.filename == str(small_disk / "file")


def test_a_file_takes_the_place_of_files_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="it is a device or a pipe, and not a file"):
        write_whole(tmp_path / "pipe", b"new")
    assert (tmp_path / "pipe").is_fifo()
    with pytest.raises(NotADirectoryError), folder_written_whole(tmp_path / "pipe"):
        raise AssertionError("the block was entered")
    (tmp_path / "link").symlink_to("file")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_bytes() == b"new"
    assert names(tmp_path) == {"pipe", "link", "file"}


def test_files_of_a_folder_are_written_to_where_links_lead(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to("disk/file")
    for content in (b"first", b"second"):
        write_all_whole(tmp_path, {"link": content, "beside": content})
        assert (tmp_path / "link").is_symlink() and (tmp_path / "disk/file").read_bytes() == content
        assert names(tmp_path) == {"disk", "link", "beside"} and names(tmp_path / "disk") == {"file"}


def test_a_folder_takes_the_place_of_the_old_one_with_all_that_was_in_it(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "old").touch()
    with folder_written_whole(tmp_path / "folder") as new:
        (new / "new").touch()
        assert names(tmp_path / "folder") == {"old"}
    assert names(tmp_path / "folder") == {"new"}
    assert names(tmp_path) == {"folder"}


def test_a_folder_that_fails_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "old").touch()
    with pytest.raises(ValueError, match="half"), folder_written_whole(tmp_path / "folder") as new:
        (new / "new").touch()
        raise ValueError("half")
    assert names(tmp_path / "folder") == {"old"}
    assert names(tmp_path) == {"folder"}


def test_a_new_folder_that_cannot_take_its_place_gives_the_old_one_back(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "old").touch()
    with pytest.raises(OSError, match="No such file"), folder_written_whole(tmp_path / "folder") as new:
        new.rmdir()
    assert names(tmp_path / "folder") == {"old"}
    assert names(tmp_path) == {"folder"}


def test_folders_above_a_new_folder_are_made(tmp_path: Path) -> None:
    with folder_written_whole(tmp_path / "a" / "b") as new:
        (new / "file").touch()
    assert names(tmp_path / "a" / "b") == {"file"}


def test_folders_above_a_folder_that_fails_are_removed_again(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="half"), folder_written_whole(tmp_path / "a" / "b" / "c"):
        (tmp_path / "a" / "of others").write_text("stays")
        raise ValueError("half")
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "of others"]


def test_a_new_folder_is_written_to_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("disk/folder")
    for name in ("first", "second"):
        with folder_written_whole(tmp_path / "link") as new:
            (new / name).touch()
        assert (tmp_path / "link").is_symlink() and names(tmp_path / "disk/folder") == {name}
    assert names(tmp_path) == {"link", "disk"} and names(tmp_path / "disk") == {"folder"}


def test_of_the_folders_above_a_folder_that_fails_only_those_that_were_made_are_removed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    with pytest.raises(ValueError), folder_written_whole(tmp_path / "kept" / "made" / "too" / "folder"):
        raise ValueError
    assert [*tmp_path.rglob("*")] == [tmp_path / "kept"]
