"""Shards whose headers tell sizes that nothing has."""

import tarfile
from pathlib import Path

import pytest

from deepspeech.util.errors import CorpusError
from deepspeech.util.shards.members import contents


@pytest.mark.parametrize("size", [1 << 40, 1 << 62, 1 << 70, -1])
@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_size_that_no_member_has_is_damage(tmp_path: Path, kind: bytes, size: int) -> None:
    header = bytearray(tarfile.TarInfo("a.wav").tobuf(tarfile.GNU_FORMAT))
    header[156:157] = kind
    header[124:136] = (size % (1 << 95) | 1 << 95 | (size < 0) * 0xFF << 88).to_bytes(12, "big")
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + 8 * ord(" ") + sum(header[156:]))
    path = tmp_path / "a.tar"
    path.write_bytes(bytes(header) + bytes(1024))
    with pytest.raises(CorpusError, match=r"a\.tar: .*(damaged|ends within)"):
        contents(str(path), path.stat().st_size, 0)
