"""The published archives of corpora: addresses, sizes, checksums and licences; and how to get other corpora."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import ImportingError
from ..figures.counted import counted
from ..progress import Report
from .download import RemoteFile, in_words
from .unpacked_archives import fetch_archives


@dataclass(frozen=True)
class Published:
    """The archives of a corpus."""

    licence: str
    archives: Mapping[str, RemoteFile]
    """The archives by the names of their parts."""
    standard: tuple[str, ...] = ()
    """The parts that are fetched by default; empty: all."""

    def choose(self, corpus: str, parts: Iterable[str]) -> list[RemoteFile]:
        """Return the archives of the parts, or of the standard ones; raise ImportingError for an unknown part."""
        wanted = tuple(parts) or self.standard or tuple(self.archives)
        unknown = next((part for part in wanted if part not in self.archives), None)
        if unknown is not None:
            raise ImportingError(f"{corpus} has no part {unknown!r}; there are {', '.join(self.archives)}")
        return [self.archives[part] for part in wanted]


_OPENSLR = "https://www.openslr.org/resources"


_MINI_LIBRISPEECH = {
    "train-clean-5": (332_954_390, "5df7d4e78065366204ca6845bb08f490"),
    "dev-clean-2": (126_046_265, "6d7ab67ac6a1d2c993d050e16d61080d"),
}
"""The size and MD5 of each part."""

_LIBRISPEECH = {
    "train-clean-100": (6_387_309_499, "d4ddd1d5a6ab303066f14971d768ee43278a5f2a0aa43dc716b0e64ecbbbf6e2"),
    "train-clean-360": (23_049_477_885, "146a56496217e96c14334a160df97fffedd6e0a04e66b9c5af0d40be3c792ecf"),
    "train-other-500": (30_593_501_606, "ddb22f27f96ec163645d53215559df6aa36515f26e01dd70798188350adcb6d2"),
    "dev-clean": (337_926_286, "76f87d090650617fca0cac8f88b9416e0ebf80350acb97b343a85fa903728ab3"),
    "dev-other": (314_305_928, "12661c48e8c3fe1de2c1caa4c3e135193bfb1811584f11f569dd12645aa84365"),
    "test-clean": (346_663_984, "39fde525e59672dc6d1551919b1478f724438a95aa55f874b576be21967e6c23"),
    "test-other": (328_757_843, "d09c181bba5cf717b3dee7d4d592af11a3ee3a09e08ae025c5506f6ebe961c29"),
}
"""The size and SHA-256 of each part."""

PUBLISHED: Mapping[str, Published] = {
    "aishell": Published(
        "Apache 2.0",
        {
            "data": RemoteFile(
                f"{_OPENSLR}/33/data_aishell.tgz", md5="2f494334227864a8a8fec932999db9d8", size=15_582_913_665
            )
        },
    ),
    **dict.fromkeys(
        ("an4", "an4_digits"),
        Published(
            "free for any use",
            {"sphere": RemoteFile("http://www.speech.cs.cmu.edu/databases/an4/an4_sphere.tar.gz")},
        ),
    ),
    "arabic_speech_commands": Published(
        "CC BY 4.0",
        {
            "master": RemoteFile(
                "https://github.com/abdulkaderghandoura/arabic-speech-commands-dataset/archive/master.zip"
            )
        },
    ),
    "fsdd": Published(
        "CC BY-SA 4.0",
        {
            "1.0.9": RemoteFile(
                "https://github.com/Jakobovski/free-spoken-digit-dataset/archive/v1.0.9.tar.gz",
                "8bc44cde129d505cbbb6b365c09f80c663f2aa77578afc634e6141a2f87100c0",
            )
        },
    ),
    "librispeech": Published(
        "CC BY 4.0",
        {
            **{
                part: RemoteFile(f"{_OPENSLR}/31/{part}.tar.gz", md5=md5, size=size)
                for part, (size, md5) in _MINI_LIBRISPEECH.items()
            },
            **{
                part: RemoteFile(f"{_OPENSLR}/12/{part}.tar.gz", sha256, size=size)
                for part, (size, sha256) in _LIBRISPEECH.items()
            },
        },
        standard=tuple(_MINI_LIBRISPEECH),
    ),
    "ljspeech": Published(
        "public domain",
        {
            "1.1": RemoteFile(
                "https://data.keithito.com/data/speech/LJSpeech-1.1.tar.bz2",
                "be1a30453f28eb8dd26af4101ae40cbf2c50413b1bb21936cbcdc6fae3de8aa5",
                size=2_748_572_632,
            )
        },
    ),
    "speech_commands": Published(
        "CC BY 4.0",
        {
            "v0.02": RemoteFile(
                "https://storage.googleapis.com/download.tensorflow.org/data/speech_commands_v0.02.tar.gz",
                "af14739ee7dc311471de98f5f9d2c9191b18aedfe957f4a6ff791c709868ff58",
                size=2_428_923_189,
            )
        },
    ),
    "tedlium": Published(
        "CC BY-NC-ND 3.0",
        {
            "release-3": RemoteFile(
                f"{_OPENSLR}/51/TEDLIUM_release-3.tgz",
                "ad1e454d14d1ad550bc2564c462d87c7a7ec83d4dc2b9210f22ab4973b9eccdb",
                size=54_000_000_000,
            )
        },
    ),
    "thchs30": Published(
        "Apache 2.0",
        {
            "data": RemoteFile(
                f"{_OPENSLR}/18/data_thchs30.tgz", md5="2d2252bde5c8429929e1841d4cb95e90", size=6_453_425_169
            )
        },
    ),
    "yesno": Published(
        "see https://www.openslr.org/1/",
        {
            "waves": RemoteFile(
                f"{_OPENSLR}/1/waves_yesno.tar.gz", "c3f49e0cca421f96b75b41640749167b52118f232498667ca7a5f9416aef8e73"
            )
        },
    ),
}
"""By the names of their importers. Checksums are from the publishers, or from importers of other programs."""

BY_HAND: Mapping[str, str] = {
    "common_voice": "Common Voice is given to people with an account: download the archive of a language from "
    "https://mozilladatacollective.com, unpack it, and name its folder",
    "voxforge": "VoxForge is thousands of archives, one for each submission: download those that you want from "
    "http://www.repository.voxforge1.org/downloads/SpeechCorpus/Trunk/Audio/Main/16kHz_16bit/, unpack them into one "
    "folder, and name it",
}
"""How to get corpora without an archive to download; each sentence continues with a flag."""


def fetch_published(corpus: str, parts: Iterable[str], folder: Path, report: Report) -> Path:
    """Download the parts of a corpus, by default the standard ones, and unpack them into `folder`.

    Existing parts are not fetched again. Return the top folder of the corpus. Raise ImportingError if the corpus is not
    published, has no such part, or cannot be downloaded or unpacked.
    """
    if corpus not in PUBLISHED:
        raise ImportingError(missing_source(corpus))
    published = PUBLISHED[corpus]
    archives = published.choose(corpus, parts)
    total = sum(archive.size or 0 for archive in archives)
    size = f", {in_words(total)}" if total else ""
    report(f"{corpus}: {counted(len(archives), 'archive')}{size}; licence: {published.licence}")
    return fetch_archives(archives, folder, report)


def check_parts(corpus: str, parts: Sequence[str]) -> None:
    """Raise ImportingError unless these are parts of the corpus."""
    if parts and corpus not in PUBLISHED:
        raise ImportingError(f"{corpus} has no parts; leave out --part")
    if parts:
        PUBLISHED[corpus].choose(corpus, parts)


def missing_source(corpus: str) -> str:
    """Return the advice for importing a corpus if the folder of its recordings is missing."""
    if corpus in BY_HAND:
        return f"{BY_HAND[corpus]} with --from"
    if corpus not in PUBLISHED:
        return f"the corpus {corpus} cannot be downloaded; name the folder of its recordings with --from"
    parts = PUBLISHED[corpus].archives
    some = f", or some of its parts with --part: {', '.join(parts)}" if len(parts) > 1 else ""
    return f"name the folder of {corpus}'s recordings with --from, or download them with --download{some}"
