from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.decoder import UTF8_BYTES
from deepspeech.util.errors import AlphabetError
from deepspeech.util.output_units import ByteAlphabet, load_alphabet, restored_alphabet


def test_the_labels_are_all_bytes_but_zero_in_the_order_of_deepspeech() -> None:
    alphabet = load_alphabet("bytes", None)
    assert alphabet.output_labels == UTF8_BYTES
    assert (alphabet.size, alphabet.blank, alphabet.delimiter) == (255, 255, 31)
    assert restored_alphabet("bytes", UTF8_BYTES, b"") == alphabet


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_every_text_is_spelled_by_its_bytes(text: str) -> None:
    alphabet = ByteAlphabet()
    labels = alphabet.encode(text)
    assert [label + 1 for label in labels] == list(text.encode())
    assert alphabet.decode(labels) == text
    assert sum(count for _, count in alphabet.pieces(text)) == len(labels)


def test_bytes_that_are_no_utf8_are_shown_as_such() -> None:
    alphabet = ByteAlphabet()
    assert alphabet.decode(alphabet.encode("né")[:-1]) == "n\N{REPLACEMENT CHARACTER}"


def test_a_file_of_labels_is_refused_as_bytes_need_none() -> None:
    with pytest.raises(AlphabetError, match=r"^alphabet\.txt: models that write bytes need no alphabet"):
        load_alphabet("bytes", Path("alphabet.txt"))
