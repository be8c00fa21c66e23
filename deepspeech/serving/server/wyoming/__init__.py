"""Wyoming, the protocol of Home Assistant's voice satellites, beside HTTP."""
