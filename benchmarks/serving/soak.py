"""Tests the server for a long time with good and bad clients at once: its memory, and the good clients' texts.

    python -m benchmarks.serving.soak [--demo demo] [--n_hidden 256] [--minutes 30] [--streams 30]

Two thirds of the clients stream recordings of the demo's test set in real time, each over its own connection, and
compare each final with the model's text for the recording alone. The others vanish in the middle of a sentence, stop
reading, send noise of any length, text instead of audio, a broken frame, or nothing, and connect again. A row each
minute shows the server's memory, open files and threads. At the end, the server is told to stop while all clients
stream: each must get its final.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import random
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import soundfile

from deepspeech import Model

from ..inference import ROOT, trained_graph, write_graph
from ..processes.arguments import above_zero, at_least
from ..processes.live_clients import MESSAGE_SECONDS, PATIENCE, RATE, framed, handshake, listen_for_final
from ..server import Server

FINISH = framed(b'{"type": "finish"}', 1)
MESSAGE_BYTES = int(2 * RATE * MESSAGE_SECONDS)
BAD_KINDS = ("vanish", "stall", "noise", "text", "broken frame", "nothing")


@dataclass
class Record:
    """The results of the clients."""

    finals: int = 0
    wrong: list[str] = field(default_factory=list)
    bad: Counter[str] = field(default_factory=Counter)
    open_at_stop: int = 0
    finals_at_stop: int = 0


@dataclass(frozen=True)
class Recording:
    """A recording as 16-bit samples, and the model's text for it."""

    audio: bytes
    text: str


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demo", type=Path, default=ROOT / "demo", help="the demo's folder")
    parser.add_argument("--n_hidden", type=at_least(1), default=256)
    parser.add_argument("--minutes", type=above_zero, default=30)
    parser.add_argument("--streams", type=at_least(1), default=30)
    parser.add_argument("--precision", default="auto")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        graph = write_graph(Path(folder) / "graph.pb", options.n_hidden, trained_graph(options.demo))
        recordings = recordings_of(options.demo / "corpus/test.csv", Model(graph, options.precision))
        flags = [f"precision={options.precision}", "endpoint_silence_after_words=30", "idle_seconds=20"]
        with Server(graph, flags) as server:
            wrong = asyncio.run(soak(server, recordings, options.streams, 60 * options.minutes))
    sys.exit(wrong)


def recordings_of(table: Path, model: Model, count: int = 40) -> list[Recording]:
    """Return recordings of a CSV file with the model's texts."""
    with table.open(encoding="utf-8") as file:
        names = [row["wav_filename"] for row in csv.DictReader(file)][:count]
    found = []
    for name in names:
        samples, rate = soundfile.read(table.parent / name, dtype="int16")
        assert rate == RATE
        stream = model.createStream()
        stream.feedAudioContent(np.asarray(samples))
        found.append(Recording(np.asarray(samples, "<i2").tobytes(), stream.finishStream().strip()))
    return found


async def soak(server: Server, recordings: list[Recording], streams: int, seconds: float) -> int:
    """Run all clients for a time, then stop the server; return 1 if anything was wrong."""
    record, over, stopping = Record(), asyncio.Event(), asyncio.Event()
    many = 2 * streams // 3
    good = [asyncio.create_task(be_good(server.port, recordings, record, stopping, each)) for each in range(many)]
    bad = [asyncio.create_task(be_bad(server.port, recordings, record, over)) for _ in range(streams - many)]
    for minute in range(int(seconds // 60) + 1):
        files, threads = server.open_files, server.threads
        print(
            f"minute {minute:3}: {server.megabytes:6.1f} MB, {files} open files, {threads} threads; "
            f"{record.finals} finals, {len(record.wrong)} other than alone; "
            + ", ".join(f"{count} {kind}" for kind, count in sorted(record.bad.items())),
            flush=True,
        )
        await asyncio.sleep(min(60.0, seconds))
    over.set()
    await asyncio.gather(*bad)
    stopping.set()
    server.stop()
    await asyncio.gather(*good)
    print(f"stopped while {record.open_at_stop} clients streamed, of which {record.finals_at_stop} got their final")
    for line in record.wrong[:5]:
        print(line)
    return int(bool(record.wrong) or record.finals_at_stop != record.open_at_stop)


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Open a live stream."""
    reader, writer = await handshake(port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def be_good(port: int, recordings: list[Recording], record: Record, stopping: asyncio.Event, seed: int) -> None:
    """Stream recordings until the server is stopped."""
    chosen = random.Random(seed)
    while not stopping.is_set():
        recording = chosen.choice(recordings)
        async with connected(port) as (reader, writer):
            listening = asyncio.create_task(listen_for_final(reader))
            await say(writer, recording.audio, until=listening)
            if not listening.done():
                writer.write(FINISH)
            text = await asyncio.wait_for(listening, PATIENCE)
        if stopping.is_set():
            record.open_at_stop += 1
            record.finals_at_stop += text is not None
            return
        record.finals += 1
        if text != recording.text:
            record.wrong.append(f"{text!r} instead of {recording.text!r}")


async def be_bad(port: int, recordings: list[Recording], record: Record, over: asyncio.Event) -> None:
    """Violate the protocol until the test is over."""
    while not over.is_set():
        kind = random.choice(BAD_KINDS)
        record.bad[kind] += 1
        try:
            async with connected(port) as (reader, writer):
                await misbehave(kind, reader, writer, random.choice(recordings).audio)
        except (OSError, EOFError):
            pass  # the server may end such a connection


async def misbehave(kind: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, audio: bytes) -> None:
    """Run one bad client once."""
    if kind == "stall":
        for _ in range(40):  # whose answers are not read
            await say(writer, audio, seconds_apart=0.001)
    elif kind == "noise":
        for _ in range(50):
            writer.write(framed(random.randbytes(random.randrange(60_000)), 2))
            await writer.drain()
            await asyncio.sleep(0.02)
    elif kind == "text":
        writer.write(framed(random.randbytes(100).hex().encode(), 1))
    elif kind == "broken frame":
        writer.write(random.randbytes(500))
    elif kind == "vanish":
        await say(writer, audio[: random.randrange(2, len(audio), 2)])
        return
    await asyncio.wait_for(reader.read(100), 5 + 5 * random.random()) if kind != "stall" else await asyncio.sleep(5)


async def say(
    writer: asyncio.StreamWriter,
    audio: bytes,
    *,
    seconds_apart: float = MESSAGE_SECONDS,
    until: asyncio.Task[str | None] | None = None,
) -> None:
    """Send audio in real time, or faster; stop once a task is done."""
    begin = asyncio.get_running_loop().time()
    for number, start in enumerate(range(0, len(audio), MESSAGE_BYTES)):
        if until is not None and until.done():
            return
        await asyncio.sleep(begin + (number + 1) * seconds_apart - asyncio.get_running_loop().time())
        writer.write(framed(audio[start : start + MESSAGE_BYTES], 2))


if __name__ == "__main__":
    main()
