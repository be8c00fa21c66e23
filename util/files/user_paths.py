"""Paths as users write them."""

from pathlib import Path

from ..storage.addresses import without_file_scheme


def user_path(text: str) -> Path:
    """Return the path; a `~`, or the `~name` of a user, at its beginning is that home folder.

    The `~name` of a user that there is not stays as it is. A `file:` address is the path that it names.
    """
    text = without_file_scheme(text)
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)
