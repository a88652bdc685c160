"""A headless Chromium for the tests of report.html, driven through its DevTools pipe: no driver, no port."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--metrics-recording-only",
    "--remote-debugging-pipe",
)
PATIENCE = 60.0


def chromium() -> str | None:
    """The program, or None if there is none on this machine."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page. Messages are JSON with a NUL behind, on the file descriptors 3 and 4 of the browser."""

    def __init__(self, program: str, profile: str) -> None:
        read_commands, self._commands = os.pipe()
        self._answers, write_answers = os.pipe()
        # the browser wants them as 3 and 4; numbers above are free of what else is open
        script = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", str(read_commands), str(write_answers), program, *FLAGS]
            + [f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(read_commands, write_answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(read_commands)
        os.close(write_answers)
        self._received = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []
        targets = self._ask("Target.getTargets", session=None)["targetInfos"]
        page = next(one["targetId"] for one in targets if one["type"] == "page")
        attached = self._ask("Target.attachToTarget", session=None, targetId=page, flatten=True)
        self._session: str = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._ask("Browser.close", session=None)
        for descriptor in (self._commands, self._answers):
            os.close(descriptor)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._ask(method, session=self._session, **parameters)

    def _ask(self, method: str, *, session: str | None, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                found: dict[str, Any] = answer["result"]
                return found
            self.events.append(answer)

    def _message(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._received:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))
            assert ready, "Chromium does not answer"
            piece = os.read(self._answers, 1 << 20)
            assert piece, "Chromium has ended"
            self._received += piece
        text, _, self._received = self._received.partition(b"\0")
        found: dict[str, Any] = json.loads(text)
        return found

    def open(self, path: Path, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Shows a file in a window of `width` pixels, and waits until it is there."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.events.clear()
        self.ask("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._message())

    def value(self, expression: str) -> Any:
        """Of a JavaScript expression on the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """What the console has been told since the page was opened, and what could not be loaded."""
        found = []
        for event in self.events:
            what, about = event.get("method"), event.get("params", {})
            if what == "Log.entryAdded":
                found.append(about["entry"]["text"])
            elif what in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Network.loadingFailed"):
                found.append(json.dumps(about))
        return found

    def requests(self) -> list[str]:
        """The addresses that have been asked for since the page was opened."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def picture(self) -> bytes:
        """The whole page as a PNG."""
        answer = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(answer["data"])


@contextlib.contextmanager
def browser(program: str) -> Iterator[Browser]:
    """A Chromium with a profile of its own, which is gone afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        found = Browser(program, profile)
        try:
            yield found
        finally:
            found.close()
