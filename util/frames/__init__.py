"""From a front end's frames to the network's: frames are normalized, and several are stacked into one."""
