"""Paths as users write them."""

from pathlib import Path

from ..storage.addresses import without_file_scheme


def user_path(text: str) -> Path:
    """Return the path of a text; a leading `~`, or `~name` of a user, is replaced by the home folder.

    A `~name` of an unknown user stays as it is. A `file:` address becomes the path that it names.
    """
    text = without_file_scheme(text)
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)
