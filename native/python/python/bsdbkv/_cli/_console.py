"""Standard output, and messages and progress on standard error."""

from __future__ import annotations

import os
import sys
import time
from typing import Optional

from ._syntax import shown

_REDRAW = 0.2
_LINE = 10
_WIDTH = 79
_BAR = 20


class Console:
    """Data goes to ``out``, in bytes; messages go to standard error, in UTF-8 whatever the locale."""

    def __init__(self) -> None:
        self.out = sys.stdout.buffer
        self.terminal = sys.stderr is not None and sys.stderr.isatty()
        self._status = 0

    def print(self, text: str) -> None:
        """Writes a line of data."""
        self.out.write(text.encode("utf-8", "surrogateescape") + b"\n")

    def say(self, text: str) -> None:
        """Writes a message, in which line breaks and other control characters are escaped."""
        eraser = "\r" + " " * self._status + "\r" if self._status else ""
        self._write(eraser + shown(text) + "\n")
        self._status = 0

    def report(self, text: str) -> None:
        """Writes a message of several lines."""
        for line in text.splitlines():
            self.say(line)

    def status(self, line: str) -> None:
        """Redraws the line at the bottom of a terminal, or removes it if the text is empty."""
        if self.terminal and (line or self._status):
            self._write("\r" + line + " " * max(0, self._status - len(line)) + ("" if line else "\r"))
            self._status = len(line)

    def flush(self) -> None:
        """Writes what is held back."""
        self.out.flush()

    def abandon(self) -> None:
        """Writes what is held back if somebody reads it, and sees that the interpreter does not try again."""
        try:
            self.out.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def _write(self, text: str) -> None:
        try:
            sys.stderr.buffer.write(text.encode("utf-8", "backslashreplace"))
            sys.stderr.buffer.flush()
        except (OSError, ValueError, AttributeError):
            self._status = 0  # nobody listens


class Progress:
    """Shows the progress of a long task: on a terminal a line that is redrawn, elsewhere one every ten seconds."""

    def __init__(self, console: Console, quiet: bool) -> None:
        self._console = console
        self._quiet = quiet
        self._every = _REDRAW if console.terminal else _LINE
        self._stage = ""
        self._began = time.monotonic()
        self._shown = self._began - (self._every if console.terminal else 0)

    def update(self, stage: str, done: int, share: Optional[float] = None) -> None:
        """Says how far a stage is: what is done, and which share of all that is, if it is known."""
        if self._quiet:
            return
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._began = stage, now
        if now - self._shown < self._every:
            return
        self._shown = now
        line = _described(stage, done, share, now - self._began)
        if self._console.terminal:
            self._console.status(line[:_WIDTH])
        else:
            self._console.say(line)

    def close(self) -> None:
        """Removes the line."""
        self._quiet = True
        self._console.status("")


def _described(stage: str, done: int, share: Optional[float], seconds: float) -> str:
    line = f"{stage:<8}"
    part = min(1.0, share or 0.0)
    if share is not None:
        filled = int(_BAR * part)
        line += f" [{'#' * filled}{'-' * (_BAR - filled)}] {int(100 * part):3}%"
    line += f" {done:14,}"
    if seconds >= 0.1:
        line += f" {done / seconds:12,.0f}/s"
    if part > 0.01 and seconds >= 0.5:
        left = round(seconds / part * (1 - part))
        line += f" {left // 60}:{left % 60:02} left"
    return line
