"""The kernel's own TCP on an emulated bottleneck, in real time."""
