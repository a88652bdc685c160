"""The host program of a build folder, and interface.json: how a kernel is called, for whoever calls it.

Both say the same: what arguments kernels take, how tensors lie in DDR, which compute units there are.
"""

from __future__ import annotations

HEADERS = ("interface.h", "pack.h", "arrays.h", "options.h", "device.h", "lane.h", "statistics.h", "batch.h")
CALL_SECONDS = 2e-3
"""Frames of a call take about this long: much longer than the start of a call, short enough to overlap."""
BUFFER_BYTES = 1 << 26
"""Of DDR that one set of buffers takes at most, if a frame allows it."""
