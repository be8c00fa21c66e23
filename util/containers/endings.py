"""The endings of the names of recordings, for every search for recordings by name."""

READ = ("wav", "flac", "opus", "ogg", "mp3", "sph", "aiff", "aif", "au", "w64", "rf64", "caf", "snd", "oga", "mp2")
DECODED_BY_FFMPEG = (
    *("m4a", "aac", "amr", "webm", "wma", "3gp", "mka", "mkv", "mov", "mp4", "spx"),
    *("m4b", "m4v", "avi", "wmv", "mpg", "mpeg", "vob", "flv"),
)

ENDINGS = (*READ, *DECODED_BY_FFMPEG)
"""Without the dot, in lower case. If several recordings have the same name, the one whose ending comes first counts."""

LISTED = f".{', .'.join(ENDINGS)}"
"""For messages."""


def by_name_and_ending(file: str) -> tuple[str, int]:
    """Return a key that sorts the names of recordings, and those that differ in their ending by `ENDINGS`."""
    stem, _, ending = file.rpartition(".")
    return stem, ENDINGS.index(ending.lower())


def is_recording(name: str) -> bool:
    """Return whether a file's name ends as that of a recording."""
    _, dot, ending = name.rpartition(".")
    return bool(dot) and ending.lower() in ENDINGS
