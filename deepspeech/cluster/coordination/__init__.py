"""The cluster's state machine: members, leases and rounds, without I/O."""
