"""The `deepspeech` command: recordings, folders of them, or a pipe in; text, JSON or subtitles out."""

import argparse
import json
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .. import __version__
from ..errors import AudioError, ExportError, FlagError
from ..serving.api import Model
from ..serving.long_audio import parts_of_blocks
from ..serving.precision import PRECISIONS
from ..serving.streams import as_signal
from ..serving.subtitles import cues, srt, webvtt
from ..serving.transcripts import Transcript, joined
from ..util.audio import read_audio_blocks
from ..util.files.whole_files import write_whole
from ..util.progress import Progress
from .arguments import ArgumentParser, failed, run_command
from .recordings import Recording, pcm_blocks, recordings

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
    add(
        "--precision",
        choices=PRECISIONS,
        default="float32",
        help="of the network's weights: int8 is faster and needs less memory; auto where the processor is made for it",
    )
    add("--scorer", type=Path, help="language model: a scorer package or a KenLM file")
    add(
        "--audio",
        required=True,
        nargs="+",
        help="recordings of any format, folders of them, or - for 16-bit mono samples at the model's rate from a pipe",
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
    add("--stream", type=int, metavar="CHUNK", help="feed CHUNK samples at a time, and print the text as it changes")
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


def _load(options: argparse.Namespace) -> Model:
    model = Model(options.model, options.precision)
    if options.stream:
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
    """Transcribe the recordings, several of them together; one that cannot be read does not stop the others."""
    chosen = recordings(options.audio)
    outputs = _outputs(options, chosen)
    model = _load(options)
    code = 0
    with Progress("Transcribing", len(chosen), enabled=len(chosen) > 1) as progress:
        done = (
            _stream_all(model, chosen, options.stream)
            if options.stream
            else _transcribe_all(model, chosen, outputs, options)
        )
        for error in done:
            if error is not None:
                code = failed(error)
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
    files = [options.output_dir / recording.name.with_suffix(SUFFIXES[options.format]) for recording in chosen]
    for number, file in enumerate(files):
        if file in files[:number]:
            raise FlagError(f"--output_dir: two recordings would be written to {file}")
    return files


def _transcribe_all(
    model: Model, chosen: Sequence[Recording], outputs: Sequence[Path | None], options: argparse.Namespace
) -> Iterator[AudioError | None]:
    """Print or write the text of each recording; yield for each one None or why it cannot be read."""
    count = options.candidate_transcripts if options.format == "json" else 1
    rate = model.sampleRate()
    results = model.recognized((parts_of_blocks(_blocks(each, rate), rate) for each in chosen), count)
    several = len(chosen) > 1
    for recording, output, result in zip(chosen, outputs, results, strict=True):
        if result.error is None:
            _write(_rendered(recording, result.parts, options, several=several), output)
        yield result.error


def _write(text: str, output: Path | None) -> None:
    if output is None:
        print(text, flush=True)
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        write_whole(output, f"{text.rstrip()}\n".encode())
    except OSError as error:
        raise ExportError(f"--output_dir: {output} cannot be written ({error.strerror})") from error


def _rendered(
    recording: Recording,
    parts: Sequence[tuple[float, list[Transcript]]],
    options: argparse.Namespace,
    *,
    several: bool,
) -> str:
    """Return the output for one recording, with its name if there are `several` on standard output."""
    best = joined([(start, candidates[0]) for start, candidates in parts])
    if options.format == "srt":
        return srt(cues(best.words))
    if options.format == "vtt":
        return webvtt(cues(best.words))
    named = several and options.output_dir is None
    if options.format == "text":
        return f"{recording}: {best.text}" if named else best.text
    # A recording that was transcribed in parts has only one transcript.
    candidates = parts[0][1] if len(parts) == 1 else [best]
    result = {"transcripts": [_candidate(candidate) for candidate in candidates]}
    if named:
        return json.dumps({"audio": str(recording), **result}, ensure_ascii=False)
    return json.dumps(result, indent=2, ensure_ascii=False)


def _blocks(recording: Recording, rate: int) -> Iterator[npt.NDArray[np.float32]]:
    if recording.path is None:
        return (as_signal(block) for block in pcm_blocks())
    return read_audio_blocks(recording.path, rate)


def _candidate(spoken: Transcript) -> dict[str, object]:
    words = [
        {"word": word.text, "start_time": word.start, "duration": round(word.end - word.start, 3)}
        for word in spoken.words
    ]
    return {"confidence": spoken.confidence, "words": words}


def _stream_all(model: Model, chosen: Sequence[Recording], chunk: int) -> Iterator[AudioError | None]:
    """Print the text of each recording as it changes; yield for each one None or why it cannot be read."""
    for recording in chosen:
        try:
            _stream(model, recording, chunk)
        except AudioError as error:
            yield error
        else:
            yield None


def _stream(model: Model, recording: Recording, chunk: int) -> None:
    """Print the text of a recording whenever it changes, and the final one at the end."""
    blocks = _blocks(recording, model.sampleRate())
    recognition = model.recognition()
    shown = None
    for block in blocks:
        for start in range(0, len(block), chunk):
            recognition.feed(block[start : start + chunk])
            text = recognition.peek()[0].text
            if text != shown:
                print(text, flush=True)
                shown = text
    text = recognition.finish()[0].text
    if text != shown:
        print(text, flush=True)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
