"""The `deepspeech` command: transcribes recordings, folders of them, or a pipe, as text, JSON or subtitles."""

import argparse
import logging
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from ..errors import AudioError, DeepSpeechError, FlagError
from ..options.export import MODEL_FILE
from ..serving.api import Model
from ..serving.arguments.checks import LARGEST_COUNT
from ..serving.layers.precision import PRECISIONS
from ..serving.long_audio import parts_of_blocks
from ..serving.transcripts import joined_candidates
from ..util.monitoring.log_lines import text_handler
from ..util.progress import Progress, report
from .arguments import (
    ArgumentParser,
    add_replaced_flags,
    add_version_flag,
    failed,
    output_path,
    run_command,
    writing_output,
)
from .confidence.low_confidence import add_confidence_flags, as_asked, check_confidence_flags
from .outputs import output_files, write_output
from .recordings import Recording, recordings
from .rendering import CSV, SUFFIXES, rendered
from .scorer import add_scorer_flags, check_scorer_flags, enable_scorer
from .utterances.endpoints import add_endpoint_flags, endpoint_rules, print_utterances, voice_activity
from .utterances.live_text import LiveText
from .utterances.pipe import PIPE
from .utterances.training_list import TrainingList

MIX, APART = "mix", "apart"

REPLACED = {
    "--lm": "give the language model, without its trie, as --scorer",
    "--trie": "give the language model, without its trie, as --scorer",
    "--alphabet": "leave it out, as the model contains its alphabet",
    "--extended_stream": "give --stream, which prints the same text",
    "-t": "leave it out, and measure the command, as with the shell's time",
}
"""What to do instead of giving flags that the programs of DeepSpeech up to 0.6, or in C++, had."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 0, 1 after an error, 130 if interrupted."""
    logging.basicConfig(handlers=[text_handler("deepspeech: %(message)s")], level=logging.WARNING)
    return run_command(lambda: _main(arguments))


def _main(arguments: Sequence[str] | None) -> int:
    options = _parser().parse_intermixed_args(arguments)
    _check(options)
    with writing_output():
        return _run(options)


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser("Turn speech into text with an exported model.", "deepspeech")
    add = parser.add_argument
    add("recordings", nargs="*", metavar="AUDIO", help="the same as after --audio")
    add("--model", required=True, type=Path, help=MODEL_FILE)
    add(
        "--precision",
        choices=PRECISIONS,
        default="float32",
        help="precision of the network's weights: int8 is faster and needs less memory; auto is int8 where the "
        "processor has special instructions for it (default: %(default)s)",
    )
    add_scorer_flags(parser)
    add(
        "--audio",
        default=[],
        action="extend",
        nargs="+",
        help="recordings of any format, folders, or - for a pipe: WAV, or 16-bit mono samples at the model's rate",
    )
    add("--beam_width", type=int, help="hypotheses kept by the search; default: the model's")
    add(
        "--hot_words",
        default="",
        help="words to make likelier, or less likely with a negative boost: word:boost,word:boost",
    )
    _add_output_flags(parser)
    add_endpoint_flags(parser, "; prints each utterance when it ends, like --stream")
    add_confidence_flags(parser)
    add_replaced_flags(parser, REPLACED)
    add_version_flag(parser)
    return parser


def _add_output_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--extended", action="store_true", help="has no effect; the text is always that of the metadata")
    add("--json", action="store_true", help="print JSON with the times of words; for several recordings, one line each")
    add(
        "--candidate_transcripts", type=int, default=3, help="transcripts of a recording in JSON (default: %(default)s)"
    )
    add(
        "--format",
        choices=[*SUFFIXES, CSV],
        default="text",
        help="what to print or write (default: %(default)s); csv: a list to train on",
    )
    add("--output_dir", type=output_path, help="folder to write a file for each recording to, instead of printing")
    add(
        "--stream",
        type=int,
        metavar="CHUNK",
        help="feed CHUNK samples at a time; print each utterance when it ends, on a terminal also while it changes",
    )
    add(
        "--channels",
        choices=[MIX, APART],
        default=MIX,
        help="transcribe the mean of all channels, or each by itself (default: %(default)s)",
    )


def _check(options: argparse.Namespace) -> None:
    options.audio = [*options.audio, *options.recordings]
    if not options.audio:
        raise FlagError("the following arguments are required: --audio; see --help")
    for name in ("beam_width", "candidate_transcripts", "stream"):
        value = getattr(options, name)
        if value is not None and not 1 <= value <= LARGEST_COUNT:
            raise FlagError(f"--{name}={value}: must be from 1 to {LARGEST_COUNT}")
    check_scorer_flags(options)
    if options.hot_words and options.scorer is None:
        raise FlagError("--hot_words: needs --scorer")
    options.boosts = _hot_words(options.hot_words)
    _check_output(options)


def _check_output(options: argparse.Namespace) -> None:
    """Raise FlagError for flags that ask for several kinds of output, or for one that the others cannot give."""
    if options.json:
        if options.format not in ("text", "json"):
            other = "a list" if options.format == CSV else "subtitles"
            raise FlagError(f"--json: prints JSON, and --format={options.format} {other}; give one of the two")
        options.format = "json"
    if options.stream and (options.format != "text" or options.output_dir):
        raise FlagError(
            "--stream: prints text as it comes, and cannot be combined with --format, --json or --output_dir"
        )
    check_confidence_flags(options)
    options.rules = endpoint_rules(options)
    if options.rules and (options.format != "text" or options.output_dir or options.min_confidence is not None):
        raise FlagError(
            "--endpoint flags and --voice_activity: print text as it comes, and cannot be combined with --format, "
            "--json, --output_dir or --min_confidence"
        )
    if options.channels == APART and (options.rules or PIPE in options.audio):
        raise FlagError(
            "--channels=apart: transcribes one channel after the other, and cannot be combined with a pipe, --stream, "
            "--endpoint flags or --voice_activity"
        )
    if options.format == CSV and (options.channels == APART or PIPE in options.audio or options.output_dir):
        raise FlagError(
            "--format=csv: prints one list of parts of recordings, and cannot be combined with a pipe, "
            "--channels=apart or --output_dir"
        )
    if options.format == CSV and options.low_confidence is not None:
        raise FlagError("--low_confidence: without effect on --format=csv, which leaves out whole utterances")


def _load(options: argparse.Namespace) -> Model:
    model = Model(options.model, options.precision)
    if options.rules:
        model.check_streams()
    if options.beam_width is not None:
        model.setBeamWidth(options.beam_width)
    enable_scorer(model, options)
    if options.boosts:
        model.set_hot_words(options.boosts)
    return model


def _hot_words(text: str) -> dict[str, float]:
    boosts: dict[str, float] = {}
    for word, boost in map(_hot_word, filter(None, text.split(","))):
        if word in boosts:
            raise FlagError(f"--hot_words: {word!r} has two boosts; give one")
        boosts[word] = boost
    return boosts


def _hot_word(entry: str) -> tuple[str, float]:
    word, _, boost = entry.rpartition(":")
    try:
        if word.strip():
            return word, float(boost)
    except ValueError:
        pass
    raise FlagError(f"--hot_words: {entry!r} is not word:boost")


def _run(options: argparse.Namespace) -> int:
    """Transcribe the recordings, several of them together; one that cannot be read does not stop the others."""
    chosen = recordings(options.audio)
    outputs = output_files(options, chosen)
    model = _load(options)
    code = 0
    texts_appear = options.output_dir is None and sys.stdout.isatty()  # a bar would be in the way of their lines
    bar = len(chosen) > 1 and not texts_appear
    with Progress("Transcribing", len(chosen), bar, unit="recording") as progress:
        if options.rules:
            done = _utterances_all(model, chosen, options)
        elif options.format == CSV:
            done = _list_all(model, chosen, options)
        else:
            done = _transcribe_all(model, chosen, outputs, options)
        for recording, error in zip(chosen, done, strict=True):
            if error is not None:
                progress.make_room()
                code = failed(error)
            if recording.pipe is not None and recording.pipe.interrupted:
                return 128 + signal.SIGINT
            progress.advance()
    return code


def _utterances_all(
    model: Model, chosen: Sequence[Recording], options: argparse.Namespace
) -> Iterator[DeepSpeechError | None]:
    """Print the utterances of each recording when they end; yield for each recording None or why it cannot be read."""
    for recording in chosen:
        try:
            blocks = recording.blocks(model.sampleRate())
            live = LiveText(sys.stdout, f"{recording}: " if len(chosen) > 1 else "")
            print_utterances(model, blocks, options.rules, voice_activity(options), options.stream, live)
        except AudioError as error:
            yield error
        else:
            yield None


def _list_all(
    model: Model, chosen: Sequence[Recording], options: argparse.Namespace
) -> Iterator[DeepSpeechError | None]:
    """Print a list to train on; yield for each recording None or why it cannot be read."""
    listed = TrainingList(sys.stdout, options.min_confidence or 0.0)
    rate = model.sampleRate()
    parts = (parts_of_blocks(recording.blocks(rate), rate) for recording in chosen)
    for recording, heard in zip(chosen, model.recognized(parts), strict=True):
        if heard.error is None:
            listed.add(str(recording), heard)
        yield heard.error
    report(f"deepspeech: {listed}")


def _transcribe_all(
    model: Model, chosen: Sequence[Recording], outputs: Sequence[Path | None], options: argparse.Namespace
) -> Iterator[DeepSpeechError | None]:
    """Print or write the text of each recording; yield for each recording None or why it cannot be read."""
    count = options.candidate_transcripts if options.format == "json" else 1
    rate = model.sampleRate()
    channels = [each.channels() if options.channels == APART else [None] for each in chosen]
    parts = (
        parts_of_blocks(recording.blocks(rate, channel), rate)
        for recording, of_recording in zip(chosen, channels, strict=True)
        for channel in of_recording
    )
    results = model.recognized(parts, count)
    for recording, output, of_recording in zip(chosen, outputs, channels, strict=True):
        heard = {channel: next(results) for channel in of_recording}
        error = next((each.error for each in heard.values() if each.error is not None), None)
        if error is None:
            candidates = {channel: joined_candidates(each.parts, count) for channel, each in heard.items()}
            asked = {channel: [as_asked(one, options) for one in each] for channel, each in candidates.items()}
            name = str(recording) if len(chosen) > 1 and options.output_dir is None else ""
            write_output(rendered(asked, options.format, name), output)
        yield error


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
