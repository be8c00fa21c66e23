"""Utterances of a report's page: what was said above what was heard, word by word, and the recording to play."""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path
from posixpath import relpath
from urllib.parse import quote

from ....shards.members import member_of
from ....storage.addresses import address_of
from ....storage.copies import local_path, original_of
from ....transcripts import letters_with_marks, words_of
from ...counted import counted
from ...errors.alignment import Kind, Step, align
from ..content import ErrorReport, ListedUtterance
from ..results import UtteranceResult
from ..summary import percent
from .markup import Markup, element, joined
from .tables import NOTHING


def utterance_list(report: ErrorReport, folder: Path) -> Markup:
    """Return the shown utterances with a legend; links to recordings are relative to `folder`."""
    shown, wrong = len(report.utterances), report.wrong_utterances
    which = f"{shown} of the {wrong} utterances" if shown < wrong else f"The {counted(wrong, 'utterance')}"
    legend = joined(
        f"{which} not heard exactly as said, worst first. What was said stands above what was heard: ",
        element("del", "said and not heard"),
        " is struck through, ",
        element("ins", "heard and not said"),
        " is underlined.",
    )
    return joined(element("p", legend), [_utterance(each, folder) for each in report.utterances])


def recording_link(recording: str, folder: Path) -> str:
    """Return a link to a recording from a page in `folder`: a relative path, or else an address of the scheme `file`.

    A page that is sent to an address links to the addresses of remote recordings, any other page to their copies.
    """
    if (page := original_of(folder)) is not None and address_of(recording) is not None:
        here, there = (address.split("/", 3) for address in (f"{page}/", recording))
        return quote(relpath(f"/{there[3]}", f"/{here[3]}")) if there[:3] == here[:3] else recording
    target = os.path.realpath(local_path(recording))
    try:
        path = os.path.relpath(target, os.path.realpath(folder))
    except ValueError:  # on another drive
        return Path(target).as_uri()
    return quote(os.fsencode(path.replace(os.sep, "/")))


def _utterance(listed: ListedUtterance, folder: Path) -> Markup:
    result = listed.result
    without = result.without_language_model
    further = [element("bdi", f"{name}: {value}") for name, value in result.columns.items() if value]
    header = element(
        "header",
        element("b", str(listed.number)),
        element("span", f"WER {percent(result.edits.wer)}"),
        element("span", f"CER {percent(result.edits.cer)}"),
        element("span", f"loss {result.loss:.1f}", class_="soft"),
        element("span", f"{result.seconds:.1f} s", class_="soft"),
        [element("span", text, class_="soft") for text in further],
    )
    return element(
        "article",
        header,
        element("div", [_step(step) for step in _steps(result)], class_="aligned", dir="auto"),
        None if without is None else _without_language_model(without),
        _recording(result, folder),
        id=f"u{listed.number}",
    )


def _recording(result: UtteranceResult, folder: Path) -> Markup:
    """Return the player of a recording above its name; none for a tar shard, which browsers cannot read."""
    path, source = Path(result.recording), f" ({_source(result)})"
    if member_of(path) is not None:
        return element("div", path.name, source, class_="soft")
    link = recording_link(result.recording, folder) + result.fragment
    return joined(
        element("audio", controls="", preload="none", src=link),
        element("div", element("a", path.name, href=link), source, class_="soft"),
    )


def _without_language_model(text: str) -> Markup:
    return element("p", "without language model: ", element("bdi", text or NOTHING), class_="soft")


def _source(result: UtteranceResult) -> str:
    return f"{result.csv_file}:{result.line}"


def _steps(result: UtteranceResult) -> tuple[Step, ...]:
    return align(words_of(result.reference), words_of(result.hypothesis))


def _step(step: Step) -> Markup:
    """Return the said word above the heard word; in a substitution, only the differences are marked."""
    said, heard = step.reference, step.hypothesis
    if said is None or heard is None:
        above = element("span", NOTHING, class_="nothing") if said is None else element("del", said)
        below = element("span", NOTHING, class_="nothing") if heard is None else element("ins", heard)
    elif step.kind is Kind.CORRECT:
        above, below = joined(said), joined(heard)
    else:
        above, below = _differences(said, heard)
    return joined(
        element(
            "span",
            element("span", above, class_="said"),
            element("span", below, class_="heard", aria_hidden="true" if step.kind is Kind.CORRECT else None),
            class_=f"step {step.kind.value}",
        ),
        " ",
    )


def _differences(said: str, heard: str) -> tuple[Markup, Markup]:
    """Return both words, with differing runs of letters marked; a mark alone would show no line through it."""
    above, below = [], []
    steps_of_letters = align(letters_with_marks(said), letters_with_marks(heard))
    for correct, run in groupby(steps_of_letters, key=lambda step: step.kind is Kind.CORRECT):
        steps = list(run)
        of_said = "".join(step.reference or "" for step in steps)
        of_heard = "".join(step.hypothesis or "" for step in steps)
        above.append(joined(of_said) if correct or not of_said else element("del", of_said))
        below.append(joined(of_heard) if correct or not of_heard else element("ins", of_heard))
    return joined(above), joined(below)
