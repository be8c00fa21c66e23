"""The page needs no other file, is well-formed, and shows every text unchanged."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from tested_utterances import results

from deepspeech.util.figures.error_report.content import make_report
from deepspeech.util.figures.error_report.html.markup import element, joined
from deepspeech.util.figures.error_report.html.page import page
from deepspeech.util.figures.error_report.html.tables import confusion_table
from deepspeech.util.figures.error_report.results import UtteranceResult
from deepspeech.util.figures.errors.confusions import ConfusionTable

VOID = {"meta", "br", "img", "input"}


class Reader(HTMLParser):
    """Reads a page; fails if elements do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    def values(self, attribute: str) -> list[str]:
        return [attributes[attribute] for _, attributes in self.elements if attribute in attributes]


def read(tested: list[UtteranceResult], folder: Path = Path("/reports/one")) -> Reader:
    return Reader(page(make_report("<a & b>", tested), folder))


def test_texts_are_escaped_and_links_lead_somewhere() -> None:
    tested = results(60)
    tested[5] = replace(tested[5], reference="<b>one</b> & two", hypothesis='"one" <script>', columns={"x": "<i>"})
    reader = read(tested)
    names = {tag for tag, _ in reader.elements}
    assert not names & {"script", "b>", "i", "link", "iframe"}
    assert "<b>one</b>" in "".join(reader.texts)
    identifiers = reader.values("id")
    assert len(identifiers) == len(set(identifiers))
    inside = [link[1:] for link in reader.values("href") if link.startswith("#")]
    assert inside
    assert set(inside) <= set(identifiers)


def test_confusions_have_no_row_of_what_was_never_said_and_no_column_of_what_was_never_heard() -> None:
    table = ConfusionTable(("four", "fir", "six"), ((2, 1, 0, 0, 0), (0,) * 5, (0, 0, 0, 0, 3), (0,) * 5, (0,) * 5))
    texts = Reader(str(confusion_table(table, "words"))).texts
    assert texts[texts.index("said \\ heard") :] == [
        *("said \\ heard", "four", "fir", "∅"),
        *("four", "2", "1"),
        *("six", "3"),
    ]


def test_groups_that_are_left_out_may_be_as_good_as_the_last_that_is_listed() -> None:
    tested = [replace(each, columns={"speaker": f"s{number}"}) for number, each in enumerate(results(40, error_rate=0))]
    assert "10 more groups, none with a higher WER, are left out." in page(
        make_report("a test", tested), Path("/report")
    )


def test_nothing_comes_from_the_network() -> None:
    text = page(make_report("a", results(40)), Path("/reports"))
    assert "http:" not in text
    assert "https:" not in text
    assert "@import" not in text
    assert "url(" not in text


def test_recordings_are_linked_relative_to_the_page(tmp_path: Path) -> None:
    folder = tmp_path / "wav #1 ä?"
    folder.mkdir()
    tested = results(3, error_rate=1, folder=folder)
    report = tmp_path / "reports" / "one"
    sources = read(tested, report).values("src")
    assert sources
    for source in sources:
        assert not source.startswith(("/", "file:"))
        assert (report / unquote(source)).resolve().parent == folder


def test_a_recording_in_a_tar_shard_is_named_and_has_no_player_that_would_stay_silent() -> None:
    inside, *others = results(3, error_rate=1)
    for shard in ("/data/shards/train-000001.tar", "s3://bucket/shards/train-000001.tar"):
        in_shard = replace(inside, csv_file=shard, line=7, recording=f"{shard}/000017.flac")
        reader = read([in_shard, *others])
        assert f"000017.flac ({shard}:7)" in "".join(reader.texts)
        assert len(reader.values("src")) == len(others)
        assert not [link for link in reader.values("href") if ".tar" in link]


def test_right_to_left_texts_choose_their_own_direction() -> None:
    arabic = replace(results(1)[0], reference="سمكة كلب قطة", hypothesis="سمك كلب")
    reader = read([arabic])
    (aligned,) = (attributes for _, attributes in reader.elements if attributes.get("class") == "aligned")
    assert aligned["dir"] == "auto"
    assert "قطة" in reader.texts
    assert reader.values("dir").count("rtl") == 0  # texts of both directions may be in one report


def test_differences_within_a_word_are_marked_with_more_than_colour() -> None:
    text = page(make_report("a", [replace(results(1)[0], reference="kitchen", hypothesis="kitcan")]), Path("/reports"))
    assert "kitc<del>he</del>n" in text
    assert "kitc<ins>a</ins>n" in text
    assert "text-decoration: line-through" in text
    assert "text-decoration: underline" in text


def test_a_wrong_mark_is_shown_with_its_letter() -> None:
    tones = replace(results(1)[0], reference="\u1ecd\u0300s\u1ecd", hypothesis="\u1ecds\u1ecd\u0301")
    text = page(make_report("a", [tones]), Path("/reports"))
    assert "<del>\u1ecd\u0300</del>s<del>\u1ecd</del>" in text
    assert "<ins>\u1ecd</ins>s<ins>\u1ecd\u0301</ins>" in text


def test_a_page_of_thousands_stays_small() -> None:
    assert len(page(make_report("a", results(3000)), Path("/reports"))) < 1_000_000


def test_markup_escapes_texts_and_attributes_but_not_elements() -> None:
    assert element("p", "a < b", element("br"), ["c", None], class_="x", aria_label='"') == (
        '<p class="x" aria-label="&quot;">a &lt; b<br>c</p>'
    )
    assert joined("&", element("i")) == "&amp;<i></i>"


def test_characters_that_count_as_words_are_told_so() -> None:
    note = "Without spaces between words, each character with its marks counts as a word."
    assert note not in read(results(2)).texts
    mandarin = [replace(each, reference="\u4eca\u5929", hypothesis="\u5929 go") for each in results(2)]
    assert note in read(mandarin).texts


@pytest.mark.parametrize(("said", "shown"), [(" ", "␣"), ("\u200c", "ZWNJ"), ("\u064b", "\u25cc\u064b")])
def test_spaces_joiners_and_combining_marks_can_be_seen(said: str, shown: str) -> None:
    tested = [replace(each, reference=f"a{said}b", hypothesis="ab") for each in results(2)]
    assert shown in read(tested).texts
