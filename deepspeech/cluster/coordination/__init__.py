"""The cluster's state machine: members, leases and rounds, free of I/O."""
