"""Flags that name addresses, such as `--train_files s3://bucket/train.csv`, in place of paths of this machine."""
