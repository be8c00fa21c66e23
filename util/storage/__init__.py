"""Files at addresses, such as `s3://bucket/corpus/train.csv`, worked on as copies below one local folder.

    files/s3/bucket/corpus/train.csv      lists, recordings, shards: fetched when needed, and removed when space is
    inputs/s3/bucket/lm.scorer            what else is read: fetched at the start
    folders/s3/bucket/run/checkpoint      what is written: folders that are sent to their address, and feature caches
    settings.json                         how long to retry, and how much space copies may take

The path of a copy says what its address is, so the rest of the program is given the paths of copies and works on them
as on any other file. It asks this room where a path that it was given is not there yet, or is to be sent:

* `open_copy` opens a copy for reading, which it fetches first if it is not there;
* `refresh` fetches a copy unless it is as new as what is at the address;
* `send` sends a folder or a file to its address, and does nothing for what has none.

`copies` says which paths are copies, `store` speaks to the object store, and `folders` keeps a folder and its address
alike.
"""
