"""Corpora in tar shards, in WebDataset's layout: `000017.flac` and `000017.txt`, one after the other, are an utterance.

A shard is read completely once; later, each recording is read by its place in the shard. The path of a recording is the
path of its shard followed by its name: `shard-003.tar/000017.flac`.
"""
