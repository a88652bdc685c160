"""What hlsgen synth shows on a terminal."""

from __future__ import annotations

import sys
from threading import Thread

from hlsgen.cli.synth import Shown


def test_the_display_is_read_while_it_is_written() -> None:
    """Two threads, as with rich: no line that comes while it is drawn disturbs it."""
    shown = Shown()

    def write() -> None:
        for number in range(20_000):
            shown.line(f"line {number}")

    thread = Thread(target=write)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        thread.start()
        while thread.is_alive():
            shown.__rich__()
    finally:
        sys.setswitchinterval(before)
        thread.join()
    assert "line 19999" in [str(row).strip() for row in shown.__rich__().renderables]
