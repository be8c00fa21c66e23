"""The `deepspeech` command: recordings, folders of them, or a pipe in; text, JSON or subtitles out."""

import argparse
import json
import logging
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .. import __version__
from ..errors import AudioError, ExportError, FlagError
from ..serving.api import Model
from ..serving.long_audio import parts_of_blocks
from ..serving.subtitles import cues, srt, webvtt
from ..serving.transcripts import Transcript, joined_candidates
from ..util.audio import channel_count, read_audio_blocks
from ..util.files.whole_files import write_whole
from ..util.progress import Progress, report
from .arguments import ArgumentParser, failed, run_command
from .confidence.low_confidence import add_confidence_flags, as_asked, check_confidence_flags
from .recordings import Recording, recordings
from .utterances.endpoints import add_endpoint_flags, endpoint_rules, print_utterances, voice_activity
from .utterances.pipe import PIPE

MIX, APART = "mix", "apart"
SUFFIXES = {"text": ".txt", "json": ".json", "srt": ".srt", "vtt": ".vtt"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 0, 1 after an error, 130 if interrupted."""
    logging.getLogger("deepspeech").addHandler(logging.NullHandler())
    return run_command(lambda: _main(arguments))


def _main(arguments: Sequence[str] | None) -> int:
    options = _parser().parse_args(arguments)
    _check(options)
    try:
        return _run(options)
    except BrokenPipeError:  # the reader of the output has closed it
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        raise ExportError(f"the output cannot be written ({error.strerror})") from error


def _drop_output() -> None:
    """Let what standard output still holds go nowhere, as it would fail again when the program ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser("Turn speech into text with an exported model.", "deepspeech")
    add = parser.add_argument
    add("--model", required=True, type=Path, help="exported graph, .pb or .pbmm")
    add("--scorer", type=Path, help="language model: a scorer package or a KenLM file")
    add(
        "--audio",
        required=True,
        nargs="+",
        help="recordings of any format, folders, or - for a pipe: WAV, or 16-bit mono samples at the model's rate",
    )
    add("--beam_width", type=int, help="hypotheses kept by the search; default: the model's")
    add("--lm_alpha", type=float, help="weight of the language model; default: the scorer's")
    add("--lm_beta", type=float, help="bonus for each word; default: the scorer's")
    add(
        "--hot_words",
        default="",
        help="words to make likelier, or less likely if negative: word:boost,word:boost",
    )
    add("--extended", action="store_true", help="has no effect; the text is always that of the metadata")
    add("--json", action="store_true", help="print JSON with the times of words; for several recordings, one line each")
    add("--candidate_transcripts", type=int, default=3, help="transcripts of a recording in the JSON")
    add("--format", choices=list(SUFFIXES), default="text", help="what to print or write")
    add("--output_dir", type=Path, help="write a file for each recording there instead of printing")
    add(
        "--stream",
        type=int,
        metavar="CHUNK",
        help="feed CHUNK samples at a time; print each utterance when it ends, on a terminal also before",
    )
    add("--channels", choices=[MIX, APART], default=MIX, help="transcribe the mean of all channels, or each by itself")
    add_endpoint_flags(parser, "; prints utterance by utterance, as --stream does, too")
    add_confidence_flags(parser)
    add("--version", action="version", version=f"DeepSpeech {__version__}")
    return parser


def _check(options: argparse.Namespace) -> None:
    for name in ("beam_width", "candidate_transcripts", "stream"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise FlagError(f"--{name}={value}: must be 1 or more")
    for name in ("lm_alpha", "lm_beta", "hot_words"):
        if getattr(options, name) not in (None, "") and options.scorer is None:
            raise FlagError(f"--{name}: needs --scorer")
    if options.json:
        options.format = "json"
    if options.stream and (options.format != "text" or options.output_dir):
        raise FlagError("--stream: prints text as it comes, and cannot be combined with --format or --output_dir")
    options.rules = endpoint_rules(options)
    if options.rules and (options.format != "text" or options.output_dir or options.min_confidence is not None):
        raise FlagError(
            "--endpoint flags and --voice_activity: print text as it comes, and cannot be combined with --format, "
            "--output_dir or --min_confidence"
        )
    if options.channels == APART and (options.rules or PIPE in options.audio):
        raise FlagError("--channels: apart, channels are transcribed one after the other, which needs files")
    check_confidence_flags(options)


def _load(options: argparse.Namespace) -> Model:
    model = Model(options.model)
    if options.rules:
        model.check_streams()
    if options.beam_width is not None:
        model.setBeamWidth(options.beam_width)
    if options.scorer is not None:
        model.enableExternalScorer(options.scorer)
        alpha, beta = model.scorer_weights
        given_alpha, given_beta = options.lm_alpha, options.lm_beta
        model.setScorerAlphaBeta(
            alpha if given_alpha is None else given_alpha, beta if given_beta is None else given_beta
        )
    for word, boost in _hot_words(options.hot_words):
        model.addHotWord(word, boost)
    return model


def _hot_words(text: str) -> Iterator[tuple[str, float]]:
    for entry in filter(None, text.split(",")):
        word, _, boost = entry.rpartition(":")
        try:
            yield word, float(boost)
        except ValueError:
            raise FlagError(f"--hot_words: {entry!r} is not word:boost") from None


def _run(options: argparse.Namespace) -> int:
    """Transcribe one recording after the other; one that cannot be read does not stop the others."""
    chosen = recordings(options.audio)
    outputs = _outputs(options, chosen)
    model = _load(options)
    code = 0
    with Progress("Transcribing", len(chosen), enabled=len(chosen) > 1) as progress:
        for recording, output in zip(chosen, outputs, strict=True):
            try:
                _transcribe(model, recording, output, options, several=len(chosen) > 1)
            except AudioError as error:
                code = failed(error)
            if recording.pipe is not None and recording.pipe.interrupted:
                return 128 + signal.SIGINT
            progress.advance()
    return code


def _outputs(options: argparse.Namespace, chosen: Sequence[Recording]) -> list[Path | None]:
    """Return the file for the output of each recording, None for standard output.

    Raise FlagError for subtitles of several recordings on standard output, and for two recordings with one file.
    """
    if options.output_dir is None:
        if len(chosen) > 1 and options.format in ("srt", "vtt"):
            raise FlagError(f"--format={options.format}: subtitles of several recordings need --output_dir")
        return [None] * len(chosen)
    suffix = SUFFIXES[options.format]
    files = [options.output_dir / recording.name.with_suffix(suffix) for recording in chosen]
    taken = Counter(files)
    alike = {file for file in files if taken[file] > 1}
    for number, recording in enumerate(chosen):
        if files[number] in alike:  # two of them differ in their extension, as a.wav and a.flac
            files[number] = options.output_dir / f"{recording.name}{suffix}"
    for number, file in enumerate(files):
        if file in files[:number]:
            raise FlagError(f"--output_dir: two recordings would be written to {file}")
    for file in sorted(alike):
        report(f"deepspeech: recordings that differ only in their extensions keep them in {file.stem}.*{suffix}")
    return files


def _transcribe(
    model: Model, recording: Recording, output: Path | None, options: argparse.Namespace, *, several: bool
) -> None:
    if options.rules:
        blocks = _blocks(recording, model.sampleRate())
        print_utterances(model, blocks, options.rules, voice_activity(options), options.stream)
        return
    text = _rendered(model, recording, options, several=several)
    if output is None:
        print(text, flush=True)
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        write_whole(output, f"{text.rstrip()}\n".encode())
    except OSError as error:
        raise ExportError(f"--output_dir: {output} cannot be written ({error.strerror})") from error


def _rendered(model: Model, recording: Recording, options: argparse.Namespace, *, several: bool) -> str:
    """Return the output for one recording, with its name if there are `several` on standard output."""
    count = options.candidate_transcripts if options.format == "json" else 1
    named = several and options.output_dir is None
    if options.channels == APART:
        assert recording.path is not None
        channels = range(channel_count(recording.path))
        every = {f"channel {number + 1}": _heard(model, recording, count, number) for number in channels}
    else:
        every = {"": _heard(model, recording, count)}
    heard = {voice: [as_asked(each, options) for each in candidates] for voice, candidates in every.items()}
    if options.format in ("srt", "vtt"):
        shown = [cue for voice, candidates in heard.items() for cue in cues(candidates[0].words, voice)]
        shown.sort(key=lambda cue: cue.start)
        return srt(shown) if options.format == "srt" else webvtt(shown)
    if options.format == "text":
        name = f"{recording}: " if named else ""
        prefixes = [f"{name}{voice}: " if voice else name for voice in heard]
        return "\n".join(prefix + each[0].text for prefix, each in zip(prefixes, heard.values(), strict=True))
    results = [{"transcripts": [_candidate(each) for each in candidates]} for candidates in heard.values()]
    result: dict[str, object] = dict(results[0])
    if options.channels == APART:
        result = {"channels": [{"channel": number, **each} for number, each in enumerate(results, 1)]}
    if named:
        return json.dumps({"audio": str(recording), **result}, ensure_ascii=False)
    return json.dumps(result, indent=2, ensure_ascii=False)


def _heard(model: Model, recording: Recording, count: int, channel: int | None = None) -> list[Transcript]:
    """Return up to `count` transcripts of a recording, or of one channel of it, best first."""
    rate = model.sampleRate()
    parts = parts_of_blocks(_blocks(recording, rate, channel), rate)
    of_parts = [(part.start, model.candidates(part.samples, count)) for part in parts]
    return joined_candidates(of_parts, count)


def _blocks(recording: Recording, rate: int, channel: int | None = None) -> Iterator[npt.NDArray[np.float32]]:
    if recording.path is None:
        assert recording.pipe is not None
        return recording.pipe.blocks(rate)
    return read_audio_blocks(recording.path, rate, channel)


def _candidate(spoken: Transcript) -> dict[str, object]:
    words = [
        {
            "word": word.text,
            "start_time": word.start,
            "duration": round(word.end - word.start, 3),
            "confidence": word.confidence,
        }
        for word in spoken.words
    ]
    return {"confidence": spoken.confidence, "words": words}


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
