"""The tables of a report's page."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from itertools import compress

from ...errors.confusions import Confusion, ConfusionTable, ItemErrors
from ..groups import Group, Grouping
from ..summary import Rate, Summary, percent
from .markup import Child, Markup, element, joined

NOTHING = "∅"
OTHERS = "others"
_UNSEEN = {
    " ": ("␣", "space"),
    "\u200c": ("ZWNJ", "zero-width non-joiner"),
    "\u200d": ("ZWJ", "zero-width joiner"),
}
"""What stands for an invisible label, and its name."""
_BASE_OF_MARKS = "\u25cc"

_Rows = list[list[Child | int]]

_BAR_WIDTH, _BAR_HEIGHT = 96, 12


def rate_text(rate: Rate) -> str:
    """Return the interval of a rate: "10.1 % to 14.9 %"; a dash where there is none."""
    return f"{percent(rate.interval.low)}\u00a0to\u00a0{percent(rate.interval.high)}" if rate.interval else "-"


def item(text: str | None) -> Markup:
    """Return a word or a label for display: with a sign if it is invisible, and a base character for a mark."""
    if text is None:
        return element("span", NOTHING, class_="nothing", title="nothing")
    if text in _UNSEEN:
        sign, name = _UNSEEN[text]
        return element("span", sign, title=name)
    marked = text and unicodedata.category(text[0]).startswith("M")
    return element("bdi", f"{_BASE_OF_MARKS}{text}" if marked else text)


def frequent_errors(errors: Sequence[Confusion], total: int, shown: Collection[int]) -> Markup | None:
    """Return the table of the most frequent errors, with links to the shown utterances."""
    rows: _Rows = [
        [
            item(error.reference),
            item(error.hypothesis),
            error.count,
            percent(error.count / total),
            [[element("a", str(number), href=f"#u{number}"), " "] for number in error.examples if number in shown],
        ]
        for error in errors
    ]
    heads = ["said", "heard", "times", "share", "for example, utterance"]
    return joined(element("h3", "Most frequent errors"), _table(heads, rows)) if rows else None


def item_table(items: Sequence[ItemErrors], what: str) -> Markup | None:
    """Return the table of the words or characters with the most errors."""
    rows: _Rows = [
        [item(each.item), each.said, each.errors, percent(each.rate), each.substituted, each.inserted, each.deleted]
        for each in items
    ]
    heads = [what, "said", "errors", "per time said", "substituted", "inserted", "deleted"]
    return joined(element("h3", f"Errors by {what}"), _table(heads, rows)) if rows else None


def confusion_table(table: ConfusionTable, what: str) -> Markup | None:
    """Return the table of what was heard for what was said; more frequent cells are darker.

    It has no row of what was never said, such as words that were only heard, and no column of what was never heard.
    """
    if not table.items:
        return None
    names = [*map(item, table.items), OTHERS, item(None)]
    heard = [any(column) for column in zip(*table.counts, strict=True)]
    heads = [element("th", name, scope="col") for name in compress(names, heard)]
    head = element("tr", element("th", "said \\ heard"), heads)
    rows = [
        element("tr", element("th", name, scope="row"), list(compress(_confusion_cells(counts, place), heard)))
        for place, (name, counts) in enumerate(zip(names, table.counts, strict=True))
        if any(counts)
    ]
    return joined(
        element("h3", f"Confusions of the {what} that have most errors"),
        element("p", "Rows are what was said, columns what was heard; the darker, the more often within a row."),
        _scrolled(element("table", element("thead", head), element("tbody", rows), class_="confusions")),
    )


def grouping_table(grouping: Grouping, overall: Summary) -> Markup:
    """Return the table of groups, each with a bar for its word error rate and the rate's interval."""
    widest = max(_reach(group.summary.wer) for group in grouping.groups) or 1.0
    rows: _Rows = [
        [
            element("bdi", group.name),
            percent(group.summary.wer.value),
            _bar(group, widest, overall),
            rate_text(group.summary.wer),
            group.summary.utterances,
            group.summary.words,
            percent(group.summary.cer.value),
            percent(group.summary.sentence_error_rate.value),
        ]
        for group in grouping.groups
    ]
    heads = ["", "WER", "", "interval", "utterances", "words", "CER", "wrong"]
    left_out = f" {grouping.left_out} more groups, none with a higher WER, are left out." if grouping.left_out else ""
    return joined(
        element("h3", element("bdi", grouping.title)),
        element("p", f"{grouping.definition[:1].upper()}{grouping.definition[1:]}.{left_out}", class_="soft"),
        _table(heads, rows),
    )


def _table(heads: Sequence[str], rows: _Rows) -> Markup:
    columns = zip(*rows, strict=True)
    classes = ["number" if any(map(_is_number, column)) else None for column in columns]
    head = element("tr", [element("th", text, class_=kind) for text, kind in zip(heads, classes, strict=True)])
    body = [
        element("tr", [element("td", _text(cell), class_=kind) for cell, kind in zip(row, classes, strict=True)])
        for row in rows
    ]
    return _scrolled(element("table", element("thead", head), element("tbody", body)))


def _scrolled(table: Markup) -> Markup:
    return element("div", table, class_="scroll")


def _is_number(cell: Child | int) -> bool:
    return isinstance(cell, int) or (isinstance(cell, str) and cell.endswith("%"))


def _text(cell: Child | int) -> Child:
    return str(cell) if isinstance(cell, int) else cell


def _confusion_cells(counts: Sequence[int], row: int) -> list[Markup]:
    most_wrong = max((count for column, count in enumerate(counts) if column != row), default=0)
    cells = []
    for column, count in enumerate(counts):
        colour, share = ("--cell", 1.0) if row == column else ("--error-cell", count / max(most_wrong, 1))
        style = f"background: rgba(var({colour}), {0.1 + 0.6 * share:.2f})" if count else None
        cells.append(element("td", str(count) if count else "", style=style))
    return cells


def _reach(rate: Rate) -> float:
    return max(rate.value, rate.interval.high if rate.interval else 0.0)


def _bar(group: Group, widest: float, overall: Summary) -> Markup:
    """Return a bar of the word error rate with a whisker for its interval; a dashed line marks the rate of all."""

    def place(rate: float) -> float:
        return round(min(rate / widest, 1.0) * (_BAR_WIDTH - 2) + 1, 1)

    def line(kind: str, begin: float, end: float, top: float, bottom: float) -> Markup:
        return element("line", class_=kind, x1=place(begin), x2=place(end), y1=top, y2=bottom)

    rate, middle, of_all = group.summary.wer, _BAR_HEIGHT / 2, overall.wer.value
    interval = rate.interval
    return element(
        "svg",
        element("rect", class_="bar", x=0, y=2, width=place(rate.value), height=_BAR_HEIGHT - 4),
        line("whisker", interval.low, interval.high, middle, middle) if interval else None,
        line("all", of_all, of_all, 0, _BAR_HEIGHT),
        width=_BAR_WIDTH,
        height=_BAR_HEIGHT,
        role="img",
        aria_label=f"{percent(rate.value)}, {rate_text(rate)}",
    )
