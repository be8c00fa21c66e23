"""params.txt: values are read back as they were written, and an error names the line that cannot be read."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.options.parameters.of_run import values_of_parameters
from deepspeech.options.parameters.text import (
    Value,
    format_parameters,
    parse_parameters,
    parse_value,
    read_parameters,
    write_parameters,
)
from deepspeech.util.errors import ParametersError

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.]*", fullmatch=True)
SINGLE = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec=None))
VALUES: st.SearchStrategy[Value] = st.recursive(SINGLE, lambda inner: st.lists(inner, max_size=4).map(tuple))


def kinds(value: Value) -> object:
    """Return the types in a value and the signs of its floats, which can differ between equal values (1, 1.0, True)."""
    if isinstance(value, tuple):
        return tuple(map(kinds, value))
    return type(value), math.copysign(1, value) if isinstance(value, float) else 0


@given(st.dictionaries(NAMES, VALUES, max_size=6))
def test_what_is_written_is_read_back_the_same(parameters: dict[str, Value]) -> None:
    text = format_parameters(parameters)
    read = parse_parameters(text.encode().decode(), "params.txt")
    assert read == parameters
    assert {name: kinds(value) for name, value in read.items()} == {
        name: kinds(value) for name, value in parameters.items()
    }
    assert len(text.splitlines()) == len(parameters)


def test_lines_are_sorted_by_name_and_strings_are_in_quotes() -> None:
    parameters: dict[str, Value] = {
        "model.rates": (0.05, 0.0),
        "files": ("train.csv",),
        "seed": 4567,
        "early_stop": True,
        "lm": None,
        "name": "it's",
        "rate": 1e-8,
    }
    assert format_parameters(parameters) == (
        "early_stop : True\n"
        "files : ('train.csv',)\n"
        "lm : None\n"
        "model.rates : (0.05, 0.0)\n"
        'name : "it\'s"\n'
        "rate : 1e-08\n"
        "seed : 4567\n"
    )


def test_a_file_is_read_back_the_same(tmp_path: Path) -> None:
    parameters: dict[str, Value] = {"language": "中文\u2028\n", "most": -math.inf}
    write_parameters(tmp_path / "params.txt", parameters)
    assert read_parameters(tmp_path / "params.txt") == parameters
    assert [path.name for path in tmp_path.iterdir()] == ["params.txt"]


def test_what_is_not_a_number_stays_so() -> None:
    (value,) = parse_parameters(format_parameters({"nan": math.nan}), "").values()
    assert isinstance(value, float)
    assert math.isnan(value)


def test_a_file_saved_by_an_editor_of_windows_is_read(tmp_path: Path) -> None:
    (tmp_path / "params.txt").write_bytes(b"\xef\xbb\xbfa : 1\r\n")
    assert read_parameters(tmp_path / "params.txt") == {"a": 1}


def test_lines_written_by_hand_may_be_in_any_order() -> None:
    assert parse_parameters("b : 1\r\n\n  a : ( 'x' , -2 )  \n", "") == {"b": 1, "a": ("x", -2)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a : 1\nb = 2\n", r"p:2: expected 'name : value', found 'b = 2'"),
        ("a : 1\n\na : 2\n", r"p:3: a is already there"),
        ("a : \n", r"p:1: a: .* is not a value"),
        ("a : fsdd\n", r"p:1: a: fsdd is not a value: .* in quotes"),
        ("a b : 1\n", r"p:1: expected 'name : value'"),
        ("{" * 5000, r"p:1: expected 'name : value', found '\{{80}'$"),
        ("a : " + "b" * 5000, r"p:1: a: b{80} is not a value"),
    ],
)
def test_a_malformed_line_is_named(text: str, message: str) -> None:
    with pytest.raises(ParametersError, match=message):
        parse_parameters(text, "p")


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "{}",
        "b'x'",
        "1j",
        "...",
        "-True",
        "-'x'",
        "1 + 1",
        "print()",
        "f'{1}'",
        "1;2",
        "\0",
        "(" * 9999,
        "-" * 9999,
    ],
)
def test_anything_but_values_is_refused_and_nothing_is_executed(text: str) -> None:
    with pytest.raises(ValueError, match="is not a value"):
        parse_value(text)


@pytest.mark.parametrize("value", [10**400, True, "0.5", None], ids=["too large", "bool", "text", "None"])
def test_what_is_no_value_of_a_parameter_is_refused(value: Value) -> None:
    with pytest.raises(ParametersError, match=r"p: dropout_rate: .* is not a value of this parameter"):
        values_of_parameters({"dropout_rate": value}, None, Path("p"))


def test_what_cannot_be_written_is_named() -> None:
    with pytest.raises(TypeError, match="is a list"):
        format_parameters({"a": [1]})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="'a b' is not a parameter's name"):
        format_parameters({"a b": 1})


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ParametersError, match=r"none\.txt: cannot be read \(No such file"):
        read_parameters(tmp_path / "none.txt")
    (tmp_path / "wav").write_bytes(b"\xff\xfe")
    with pytest.raises(ParametersError, match="wav: not a file of parameters"):
        read_parameters(tmp_path / "wav")
