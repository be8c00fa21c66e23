import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deepspeech.util.corpus_files.json_lines import read_entries
from deepspeech.util.corpus_files.json_values import JsonReader, MalformedJsonError
from deepspeech.util.corpus_files.rows import Entry, Unusable
from deepspeech.util.errors import CorpusError

ROW = {"audio_filepath": "a.wav", "text": "yes"}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


class Piecewise(io.StringIO):
    """A text of which each read returns one character."""

    def read(self, size: int | None = -1) -> str:
        return super().read(1 if size else size)


@settings(max_examples=50)
@given(value=st.lists(VALUES) | st.dictionaries(st.text(), VALUES), indent=st.sampled_from([None, 1]))
@example(value=[1.5e300, -1e-7, 10], indent=None)
def test_elements_are_those_of_the_whole_value_wherever_reads_end(value: Any, indent: int | None) -> None:
    reader = JsonReader(Piecewise(json.dumps(value, indent=indent) + "\n"))
    assert (list(reader.elements()) if isinstance(value, list) else dict(reader.members())) == value
    reader.end()


@pytest.mark.parametrize(
    ("text", "elements", "message"),
    [
        ("[1, 2", [1, 2], "Expecting ',': character 6"),
        ("[1 2]", [1], "Expecting ',': character 4"),
        ("[1, ]", [1], "Expecting value: character 5"),
        ("[1]]", [1], "Extra data: character 4"),
        ('[1, "a', [1], "Unterminated string starting at: character 5"),
        ("[" * 100_000, [], "Too deeply nested: character 2"),
        (f"[1, {'2' * 5000}]", [1], "A number of too many digits: character 5"),
    ],
)
def test_elements_before_the_malformed_place_are_read_and_the_place_is_named(
    text: str, elements: list[int], message: str
) -> None:
    reader, found = JsonReader(io.StringIO(text)), list[int]()
    with pytest.raises(MalformedJsonError) as error:
        for element in reader.elements():
            found.append(element)
        reader.end()
    assert (found, str(error.value)) == (elements, message)


@pytest.mark.parametrize("by_name", [True, False])
def test_rows_of_a_list_that_is_cut_off_are_read_up_to_there(tmp_path: Path, by_name: bool) -> None:
    rows = {f"{number}": {**ROW, "text": f"word {number}", "note": 200 * "x"} for number in range(6_000)}
    text = json.dumps(rows if by_name else list(rows.values()))
    (tmp_path / "all.json").write_text(text[:-10])
    *entries, last = read_entries(tmp_path / "all.json")
    texts = [entry.transcript for entry in entries if isinstance(entry, Entry)]
    assert texts == [f"word {number}" for number in range(5_999)]
    assert isinstance(last, Unusable)
    assert (last.line, last.reason) == (6_000, "not JSON")


@pytest.mark.parametrize("first", [{"audio": {"path": "b.wav"}, "sentence": None}, [1], {"version": {}}])
def test_a_first_line_that_is_json_and_no_row_is_a_line(tmp_path: Path, first: Any) -> None:
    (tmp_path / "all.json").write_text(f"\n{json.dumps(first)}\n{json.dumps(ROW)}\n")
    bad, good = read_entries(tmp_path / "all.json")
    assert isinstance(bad, Unusable)
    assert isinstance(good, Entry)
    assert (bad.line, good.line) == (2, 3)


def test_an_array_in_another_encoding_is_read_and_bytes_of_none_are_told(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text(json.dumps([{**ROW, "text": "säger"}], ensure_ascii=False, indent=1), encoding="utf-16")
    (entry,) = read_entries(path)
    assert isinstance(entry, Entry)
    assert entry.transcript == "säger"
    path.write_bytes(json.dumps([ROW, "x"]).encode().replace(b"x", b"\xff"))
    with pytest.raises(CorpusError, match=r"all\.json: not UTF-8"):
        list(read_entries(path))
