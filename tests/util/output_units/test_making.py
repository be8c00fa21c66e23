"""Alphabets that are made of transcripts."""

import pytest

from deepspeech.util.errors import AlphabetError
from deepspeech.util.output_units import UNITS
from deepspeech.util.output_units.making import MADE, made_alphabet


def test_the_alphabet_of_a_unit_is_one_of_its_class() -> None:
    made = {unit: made_alphabet(unit, ["你好 ab"], size=6)[0] for unit in MADE}
    assert made.keys() == UNITS.keys() - {"bytes"}
    for unit, alphabet in made.items():
        assert type(alphabet) is UNITS[unit]


def test_characters_are_not_made_for_a_unit_whose_alphabet_is_not_made_of_texts() -> None:
    with pytest.raises(AlphabetError, match="--output_unit=bytes: its alphabet is not made of transcripts"):
        made_alphabet("bytes", ["a"])
