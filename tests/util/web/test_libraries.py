"""A library that is not installed is named with the extra that installs it."""

import sys

import pytest

from deepspeech.errors import AlphabetError, ClusterError, ImportingError
from deepspeech.util.importing.synthesis.espeak import Synthesizer
from deepspeech.util.output_units.making import word_pieces
from deepspeech.util.web.libraries import check_libraries


def test_a_library_within_a_package_that_is_not_installed_is_named_with_its_extra() -> None:
    with pytest.raises(ClusterError, match=r"--trace_endpoint needs absent.sdk, json.absent: .*'.\[tracing\]'"):
        check_libraries("--trace_endpoint", ["absent.sdk", "json.absent", "json.decoder"], "tracing", ClusterError)


def test_libraries_that_speak_or_divide_words_are_named_with_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("espeakng_loader", "sentencepiece"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportingError, match=r"needs espeakng-loader: .*`synthesis`, .* with a wheel file$"):
        Synthesizer(seed=1)
    with pytest.raises(AlphabetError, match=r"needs sentencepiece: .*`wordpieces`, .* with a wheel file$"):
        word_pieces(["one"], 4)
