"""The library has Python's knowledge of scripts: which have no spaces between words, and which characters are marks."""

from __future__ import annotations

import subprocess
import unicodedata
from pathlib import Path

from client import ROOT

from deepspeech.util.transcripts import is_mark, written_without_spaces

PROGRAM = """
#include <cstdio>
#include "c_api/recognition/scripts.h"

int main() {
  for (char32_t code = 0; code < 0x110000; ++code) {
    std::putchar('0' + speech::written_without_spaces(code) + 2 * speech::is_mark(code));
  }
}
"""


def test_marks_and_scripts_without_spaces_are_those_of_python(tmp_path: Path) -> None:
    (tmp_path / "tell.cc").write_text(PROGRAM)
    sources = [tmp_path / "tell.cc", ROOT / "native_client/c_api/recognition/scripts.cc"]
    compiler = ["c++", "-std=c++17", "-O1", f"-I{ROOT / 'native_client'}"]
    subprocess.run([*compiler, *sources, "-o", tmp_path / "tell"], check=True)
    told = subprocess.run([tmp_path / "tell"], capture_output=True, text=True, check=True).stdout
    old = unicodedata.ucd_3_2_0  # later marks depend on Python's version
    codes = [code for code in range(len(told)) if old.category(chr(code)) not in ("Cn", "Cs")]
    expected = [written_without_spaces(chr(code)) + 2 * is_mark(chr(code)) for code in codes]
    assert [int(told[code]) for code in codes] == expected
