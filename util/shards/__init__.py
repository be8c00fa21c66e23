"""Corpora in tar shards, in WebDataset's layout: `000017.flac` and `000017.txt`, one after the other, are an utterance.

A shard is read from its beginning to its end when it is first seen, and a recording of it by its place in the shard
whenever it is needed. The path of a recording is that of its shard with its name behind: `shard-003.tar/000017.flac`.
"""
