"""Files at addresses: how long failed requests are retried, and how much disk space their copies take."""

from dataclasses import dataclass
from typing import ClassVar

from ..util.storage.copies import Settings
from .checkpoints import CHECKPOINTS
from .rows.checks import at_least
from .rows.flag import flag

GIGABYTE = 10**9


@dataclass(frozen=True)
class StorageOptions:
    """How files at addresses, such as s3://bucket/train.csv, are fetched and sent; see `deepspeech.util.storage`."""

    title: ClassVar[str] = CHECKPOINTS
    retry_seconds: float = flag(
        300.0,
        "seconds for which failed requests for files at addresses (s3://, gs://, hf://, http://) are retried",
        name="storage_retry_secs",
        check=at_least(0),
        decides_result=False,
    )
    cache_gigabytes: float = flag(
        50.0,
        "GB of fetched recordings, shards and lists to keep in deepspeech/storage in XDG's cache folder; 0: all",
        name="storage_cache_gb",
        check=at_least(0),
        decides_result=False,
    )

    @property
    def settings(self) -> Settings:
        """The settings of `deepspeech.util.storage`."""
        return Settings(self.retry_seconds, round(self.cache_gigabytes * GIGABYTE))
