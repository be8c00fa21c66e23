"""A folder of recordings, each with a file beside it: a text, annotations with times, or subtitles.

The file has the name of the recording, with its ending in place of the recording's or after it. Subtitles may have
their language before the ending, as in talk.en.vtt, if a recording has only one such file. Folders are searched to any
depth. If there is none beside a recording, a file in a folder of texts beside the recording's folder counts, or beside
one above it: wav/ann/1.wav with txt/ann/1.txt; else the only file with this name, if no other recording has it, too.
Recordings are cut at the annotations of a .TextGrid (Praat), .eaf (ELAN), .trs (Transcriber) or .cha (CHAT), at the
labels of Audacity or the times in a .txt, at the segments or words of a .json, and at the cues of subtitles. Folders
named train, and dev or test, are the sets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from ....containers.endings import LISTED, by_name_and_ending, is_recording
from ....corpus_files.lines import read_text
from ....errors import ImportingError
from ....files.folders import walk
from ....transcripts import continued_by_all
from ...pipeline.folders import DOCUMENTS, set_of_name
from ...pipeline.records import NO_TRANSCRIPT, SAME_NAME, TRAIN, Choices, Item, LeftOut, Record, side_of_call
from ..annotations.captions import read_ass, read_lrc, read_otr, read_sbv, read_tsv, read_xml
from ..annotations.chat import read_chat
from ..annotations.label_tracks import label_tracks
from ..annotations.names_of_speakers import is_numbered, names_apart, said_below_names
from ..annotations.parallel_folders import ParallelFolders
from ..annotations.recognizers.json_transcripts import read_json, speaker_in
from ..annotations.stamped_lines import stamped_lines
from ..annotations.subtitles import read_subtitles
from ..annotations.tiers import AnnotationsError, Tier, choose_tiers, folded, read_eaf, read_textgrid
from ..annotations.timed_lines import timed_lines
from ..annotations.timelines import read_timeline
from ..annotations.transcriber import read_trs
from ..annotations.transcripts import follow_links, has_times
from .reading import unreadable

_SUBTITLES: dict[str, Callable[[Path], list[Tier]]] = {
    **dict.fromkeys(("srt", "vtt"), read_subtitles),
    "sbv": read_sbv,
    **dict.fromkeys(("ttml", "dfxp", "srv1", "srv2", "srv3"), read_xml),
    **dict.fromkeys(("ass", "ssa"), read_ass),
    "lrc": read_lrc,
    "json3": read_json,
}
_JSON, _TSV, _CHAT = "json", "tsv", "cha"
_CHOSEN = ("textgrid", "eaf")
"""Files of which the user chooses tiers; those of the others are what each speaker says."""
_OF_RECORDINGS: dict[str, Callable[[Path], list[Tier]]] = {
    **_SUBTITLES,
    "textgrid": read_textgrid,
    "trs": read_trs,
    **dict.fromkeys(("exb", "flk", "fln"), read_timeline),
    _CHAT: read_chat,
    "otr": read_otr,
    _JSON: read_json,
    _TSV: read_tsv,
}
_TIERS = ("textgrid", "eaf", *(ending for ending in _OF_RECORDINGS if ending != "textgrid"))
"""The endings of annotations, in order of preference."""
_WITH_LANGUAGE = re.compile(rf"(.+)\.[a-z]{{2,3}}(?:-[a-z0-9]+)*\.(?:{'|'.join(_SUBTITLES)})", re.IGNORECASE)
"""The name of subtitles that tells their language, after the name of the recording."""
_DOCUMENT = "its transcript is a document; save it as plain text (.txt), in UTF-8"
_TIER = "tier"
"""The column with the name of a segment's tier."""
_ANOTHER_SPEAKER = re.compile(r"(?<!\S)>>+\s*")
"""Comes before what another speaker says, in captions."""
_MARKS = re.compile(r"\[[^\[\]]*\]")
_NO_WORDS = "no words, only marks such as [Music]"
_RICH_TEXT = "{\\rtf"
_LABELS = "labels with times instead of a transcript; save them as .srt or .TextGrid"
_TEXTS: dict[str, Callable[[Path], str]] = {"txt": read_text, "lab": read_text, "trn": follow_links}


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the recordings, or their annotated segments.

    Raise ImportingError if there are none, or, after the last item, if tiers are chosen, and all are plain texts.
    """
    empty, plain = True, True
    apart = ParallelFolders(source, (*_TIERS, *_TEXTS), _WITH_LANGUAGE)
    sets = _sets_of_folders(source)
    for name, files in walk(source):
        official_set = next((sets[part] for part in Path(name).relative_to(source).parts[:1] if part in sets), "")
        for item in _read_folder(source, Path(name), files, apart, choices.tiers):
            empty = False
            plain = plain and _is_without_tiers(item)
            yield item._replace(official_set=official_set) if isinstance(item, Record) else item
    if empty:
        raise ImportingError(f"{source} has no recordings; their names end in {LISTED}")
    if choices.tiers and plain:
        raise ImportingError(f"{source} has no annotations with tiers; leave out --tier")


def _is_without_tiers(item: Item) -> bool:
    return _TIER not in item.columns if isinstance(item, Record) else item.reason in (NO_TRANSCRIPT, SAME_NAME)


def _read_folder(
    source: Path, folder: Path, files: Sequence[str], apart: ParallelFolders, tiers: Sequence[str]
) -> Iterator[Item]:
    recordings = sorted(filter(is_recording, files), key=by_name_and_ending)
    annotations = [file for file in files if file.lower().rpartition(".")[2] in (*_TIERS, *_TEXTS)]
    beside = _beside(recordings, annotations)
    of_languages = _subtitles_of_languages(set(annotations).difference(beside.values()))
    documents = {folded(file.rpartition(".")[0]): file for file in files if file.lower().endswith(DOCUMENTS)}
    seen: set[str] = set()
    for file in recordings:
        path = folder / file
        where = str(path.relative_to(source))
        if path.stem in seen:
            yield LeftOut(where, SAME_NAME, str(path))
            continue
        seen.add(path.stem)
        found = [beside[file]] if file in beside else sorted(of_languages.get(folded(path.stem), ()))
        files_of_it = [folder / found[0]] if found else _preferred(apart.find(path, _names(file)))
        if not files_of_it:
            files_of_it = apart.find_of_languages(path)
            found = [each.name for each in files_of_it]
        if len(found) > 1:
            yield LeftOut(where, "subtitles of several languages beside it; keep one", str(path), ", ".join(found))
            continue
        if found and found[0].lower().endswith(_JSON):  # it may have facts about the recording alone
            texts = (name for name in _names(file) if not name.endswith(_JSON))
            files_of_it = _preferred(apart.find(path, texts, anywhere=False)) or files_of_it
        if len(files_of_it) == 1:
            yield from _read(source, path, files_of_it[0], tiers)
        elif files_of_it:
            names = ", ".join(str(each.relative_to(source)) for each in files_of_it)
            yield LeftOut(where, "transcripts in several folders beside its own; keep one", str(path), names)
        elif document := documents.get(folded(path.stem)):
            yield LeftOut(where, _DOCUMENT, str(path), document)
        else:
            yield LeftOut(where, NO_TRANSCRIPT, str(path))


def _sets_of_folders(source: Path) -> dict[str, str]:
    """Return the sets by the names of folders; none unless there is a folder to train on and another set's."""
    sets = {path.name: set_of_name(path.name) for path in source.iterdir() if path.is_dir()}
    return sets if {TRAIN} < {*sets.values()} - {""} else {}


def _preferred(found: list[Path]) -> list[Path]:
    """Return the plain texts among files of a recording, as these need no choice of a tier, or else all of them."""
    return [path for path in found if path.suffix[1:].lower() in _TEXTS] or found


def _beside(recordings: Sequence[str], annotations: Sequence[str]) -> dict[str, str]:
    """Return, for each recording that has one, the name of the file beside it.

    The name may differ from the recording's in case and in the encoding of accents, unless it is exactly the name of
    another recording.
    """
    beside: dict[str, str] = {}
    for alike in (str, folded):
        taken = set(beside.values())
        free = {alike(_with_small_ending(each)): each for each in annotations if each not in taken}
        for recording in recordings if free else ():
            if recording in beside:
                continue
            if found := next((free[name] for name in map(alike, _names(recording)) if name in free), None):
                beside[recording] = found
    return beside


def _subtitles_of_languages(annotations: Iterable[str]) -> dict[str, list[str]]:
    """Return the subtitles whose names tell their languages, by the folded name of the recording without an ending."""
    found: dict[str, list[str]] = {}
    for annotation in annotations:
        if named := _WITH_LANGUAGE.fullmatch(annotation):
            found.setdefault(folded(named[1]), []).append(annotation)
    return found


def _names(file: str) -> Iterator[str]:
    """Yield the possible names of the file beside a recording, in order of preference."""
    last = (_JSON, _TSV)
    for suffix in (*(each for each in (*_TIERS, *_TEXTS) if each not in last), *last):
        yield f"{file.rpartition('.')[0]}.{suffix}"
        yield f"{file}.{suffix}"


def _with_small_ending(file: str) -> str:
    stem, _, suffix = file.rpartition(".")
    return f"{stem}.{suffix.lower()}"


def _read(source: Path, path: Path, annotation: Path, tiers: Sequence[str]) -> Iterator[Item]:
    where = str(annotation.relative_to(source))
    suffix = annotation.suffix[1:].lower()
    try:
        text = _TEXTS[suffix](annotation) if suffix in _TEXTS else ""
        turns = timed_lines(text) or stamped_lines(text)
        found = (turns or label_tracks(text)) if suffix in _TEXTS else _tiers_of(annotation, path)
        if suffix in _TEXTS and not found:
            yield _of_text(path, text, where, times=has_times(text, whole=suffix == "lab"))
            return
        chosen = choose_tiers(annotation, found, tiers) if suffix in _CHOSEN or tiers else found
    except (OSError, ValueError, ArithmeticError, AnnotationsError) as error:  # of numbers that no time has
        yield unreadable(where, path, error)
    else:
        if not any(tier.segments or tier.untimed for tier in chosen):
            names = ", ".join(tier.name for tier in found)
            yield LeftOut(where, "no text in the tiers that were chosen", str(path), f"it has {names or 'no tiers'}")
        for tier in chosen:
            speaker = tier.speaker if suffix in _CHOSEN else _own(path, tier.speaker, every=suffix == _CHAT)
            channel = side_of_call(str(path), tier.name) if turns else tier.channel
            for start, end, text in tier.segments:
                duration = None if math.isinf(end) else end - start
                columns = {_TIER: tier.name}
                text = _ANOTHER_SPEAKER.sub("", text)
                if any(map(str.isalnum, _MARKS.sub("", text))):
                    yield Record(str(path), text, where, speaker, "", start, duration, columns, channel)
                else:
                    yield LeftOut(where, _NO_WORDS, str(path), text)
            for text in tier.untimed:
                yield LeftOut(where, "an annotation without a time", str(path), f"{tier.name}: {text}")


def _tiers_of(annotation: Path, recording: Path) -> list[Tier]:
    read = _OF_RECORDINGS.get(annotation.suffix[1:].lower())
    return read(annotation) if read else read_eaf(annotation, recording)


def _of_text(path: Path, text: str, where: str, *, times: bool) -> Item:
    """Return the record of a text without times; its speaker is known if it names only one, or a .json does."""
    if times:
        return LeftOut(where, _LABELS, str(path))
    if text.startswith(_RICH_TEXT):
        return LeftOut(where, _DOCUMENT, str(path))
    lines = [line for line in text.splitlines() if line.strip()]
    below = said_below_names(lines)
    said = below or names_apart(lines, timed=False)
    speakers = sorted({speaker for speaker, _ in said if speaker})
    speaker = _own(path, speakers[0], every=bool(below)) if len(speakers) == 1 else ""
    speaker = speaker or ("" if speakers else speaker_in(path.with_suffix(f".{_JSON}")))
    return Record(str(path), continued_by_all(words for _, words in said), where, speaker)


def _own(path: Path, speaker: str, *, every: bool) -> str:
    """Return the name of a speaker of a recording, with the recording's if other recordings have others of the name."""
    return f"{path.stem}-{speaker}" if speaker and (every or is_numbered(speaker)) else speaker
