"""report.html: one file that needs no other, except the recordings that it plays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ....transcripts import has_unspaced
from ...counted import counted
from ...errors import resampling
from ...errors.alignment import ErrorKinds
from ...errors.confusions import ItemErrors
from ..content import ErrorReport
from ..summary import Rate, Summary, percent
from .markup import Markup, element, joined
from .style import STYLE
from .tables import confusion_table, frequent_errors, grouping_table, item_table, rate_text
from .utterance_list import utterance_list

SECTIONS = {"words": "Words", "labels": "Characters", "groups": "Groups", "utterances": "Utterances", "terms": "Terms"}

FIGURES = (
    "Word error rate",
    "Character error rate",
    "Utterances with an error",
    "Syllable error rate",
    "Syllable error rate without tones",
)


def page(report: ErrorReport, folder: Path) -> str:
    """Return the page; its links to the recordings are relative to its `folder`."""
    shown = frozenset(each.number for each in report.utterances)
    body = element(
        "body",
        element("h1", element("bdi", f"Errors of {report.title}")),
        element("p", _about(report), class_="soft"),
        _figures(report),
        element("h2", "What stands out"),
        element("ul", [element("li", finding) for finding in report.findings]),
        element("nav", [element("a", title, href=f"#{name}") for name, title in SECTIONS.items()]),
        _heading("words"),
        _kinds(report.summary.words, report.words.kinds),
        _characters_as_words(report.words.items),
        frequent_errors(report.words.frequent, report.words.kinds.total, shown),
        item_table(report.words.items, "word"),
        confusion_table(report.words.table, "words"),
        _heading("labels"),
        _kinds(report.summary.characters, report.labels.kinds),
        frequent_errors(report.labels.frequent, report.labels.kinds.total, shown),
        item_table(report.labels.items, "character"),
        confusion_table(report.labels.table, "characters"),
        _heading("groups"),
        [grouping_table(grouping, report.summary) for grouping in report.groupings],
        None if report.groupings else element("p", "There is nothing to group these utterances by."),
        _heading("utterances"),
        utterance_list(report, folder),
        _heading("terms"),
        _terms(report.summary),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"Errors of {report.title}"),
        element("style", Markup(STYLE)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _heading(name: str) -> Markup:
    return element("h2", SECTIONS[name], id=name)


def _about(report: ErrorReport) -> str:
    files, utterances = ", ".join(report.test_files), counted(report.summary.utterances, "utterance")
    return f"{files}: {utterances}, {report.hours:.2f} hours. Written {report.created}."


def _figures(report: ErrorReport) -> Markup:
    columns = [_rates(report.summary)]
    if report.without_language_model is not None:
        columns.append(_rates(report.without_language_model))
    return element("div", [_figure(*figure) for figure in zip(FIGURES, *columns, strict=False)], class_="figures")


def _rates(summary: Summary) -> tuple[Rate, ...]:
    syllables = (summary.syllable_error_rate, summary.toneless_syllable_error_rate)
    return (summary.wer, summary.cer, summary.sentence_error_rate, *(rate for rate in syllables if rate))


def _figure(title: str, rate: Rate, without: Rate | None = None) -> Markup:
    return element(
        "div",
        title,
        element("b", percent(rate.value)),
        element("span", rate_text(rate), class_="soft"),
        element("div", f"without language model: {percent(without.value)} ({rate_text(without)})") if without else None,
    )


def _kinds(length: int, kinds: ErrorKinds) -> Markup:
    return element("p", f"{counted(kinds.total, 'error')} in {length}: {kinds.in_words}.")


def _characters_as_words(items: Sequence[ItemErrors]) -> Markup | None:
    """Return a note on words that are characters, as most of these are in scripts without spaces; else None."""
    if 2 * sum(has_unspaced(each.item) for each in items) <= len(items):
        return None
    return element("p", "Without spaces between words, each character with its marks counts as a word.", class_="soft")


def _terms(summary: Summary) -> Markup:
    drawn = "speakers" if summary.drawn_by_speaker else "utterances"
    confidence = f"{100 * resampling.CONFIDENCE:.0f}\u00a0%"
    terms = {
        "Word error rate, WER": "words that are substituted, inserted or deleted, per word of the references; "
        "in scripts without spaces between words, each character counts as a word",
        "Character error rate, CER": "the same of characters, spaces included",
        "Substitution": "something else was heard in place of what was said",
        "Insertion": "something was heard where nothing was said",
        "Deletion": "nothing was heard of what was said",
        "Wrong": "the share of utterances that have an error of words",
        "Interval": f"the range of the rate in {confidence} of {resampling.RESAMPLES} draws, with "
        f"repetition, of as many {drawn} as there are (bootstrap; Bisani and Ney, ICASSP 2004); speakers are drawn "
        f"where at least {resampling.FEWEST_SPEAKERS} of them are known",
        "Loss": "the CTC loss of the transcript, in nats; where it is high, look at the transcript, too",
    }
    if summary.syllable_error_rate is not None:
        terms["Syllable error rate"] = "of the syllables in which the texts are read aloud, as pypinyin reads them"
    return joined(
        element("dl", [[element("dt", element("b", term)), element("dd", text)] for term, text in terms.items()]),
        element("p", "All utterances are in utterances.csv, the figures of this page in report.json."),
    )
