"""Files at addresses, such as `s3://bucket/corpus/train.csv`, used through copies below one local folder.

    files/s3/bucket/corpus/train.csv      lists, recordings, shards: fetched on demand, removed when space is needed
    inputs/s3/bucket/lm.scorer            other inputs: fetched at the start
    folders/s3/bucket/run/checkpoint      outputs: folders that are sent to their address, and feature caches
    settings.json                         how long to retry, and how much space copies may take

The path of a copy gives its address. So the rest of the program works on the paths of copies as on other files, and
calls this package only if a copy may be missing, or must be sent:

* `open_copy` opens a copy for reading, and fetches it first if it is missing;
* `refresh` removes a copy that is older than the file at its address, so that it is fetched again;
* `send` and `send_file` send a folder or a file to its address, and do nothing for a path without one.

`copies` knows which paths are copies, `store` accesses the object store, and `folders` synchronizes a folder with its
address.
"""
