#!/usr/bin/env python3
"""Tests manual.py with the help texts of this checkout: python3 build-support/package/test_manual.py

The completions are typed into bash and zsh, if they are installed, as a user types them.
"""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import manual

ROOT = Path(__file__).resolve().parents[2]
HELP = [ROOT / module / "src/test/resources/help" for module in ("bsdb-tools", "bsdb-bench")]
# Not in the overview.
HIDDEN = {"get-rate", "unicode-names"}


def overview():
    names = sorted({file.stem for folder in HELP for file in folder.glob("*.txt")} - HIDDEN)
    lines = "".join(f"  {name:14}does what {name} does\n" for name in names)
    return f"bsdb builds things and looks up others.\n\nUsage: bsdb COMMAND\n\nCommands:\n{lines}\nbsdb COMMAND --help\n"


class Typist:
    """A shell in a terminal."""

    def __init__(self, *command, directory):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.execvpe(command[0], command, {"PATH": os.environ["PATH"], "TERM": "dumb", "HOME": directory, "LC_ALL": "C.UTF-8"})

    def type(self, text, expected):
        """What the shell writes up to a text that it must write."""
        os.write(self.terminal, text.encode())
        written, end = "", time.monotonic() + 60
        while not re.search(expected, written):
            if time.monotonic() > end:
                raise AssertionError(f"typed {text!r}, expected {expected!r}, got {written!r}")
            if select.select([self.terminal], [], [], 1)[0]:
                written += os.read(self.terminal, 65536).decode(errors="replace")
        return written

    def close(self):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


class ManualTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.home = Path(cls.folder.name)
        (cls.home / "overview").write_text(overview())
        (cls.home / "words.txt").write_text("")
        manual.main([
            str(cls.home / "overview"), *map(str, HELP), "--launcher", str(ROOT / "scripts/bsdb"), "--version", "1.2.3",
            "--date", "2026-01-02", "--output", str(cls.home / "share"),
        ])
        cls.page = cls.home / "share/man/man1/bsdb.1"
        cls.bash = cls.home / "share/bash-completion/completions/bsdb"
        cls.zsh = cls.home / "share/zsh/site-functions"

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_option_of_every_help_text_is_in_the_page_and_the_completions(self):
        page = self.page.read_text().replace("\\-", "-")
        bash, zsh = self.bash.read_text(), (self.zsh / "_bsdb").read_text()
        for folder in HELP:
            for file in folder.glob("*.txt"):
                if file.stem in HIDDEN:
                    continue
                for flag in re.findall(r"^  (-[^ ,\n]+)", file.read_text(), re.MULTILINE):
                    for name, text in (("page", page), ("bash", bash), ("zsh", zsh)):
                        self.assertIn(flag, text, f"{file.name} in {name}")

    def test_every_word_of_every_help_text_is_in_the_page(self):
        page = re.sub(r"\\f[BIR]|\\&", "", self.page.read_text()).replace("\\(aq", "'").replace("\\(ga", "`")
        page = page.replace("\\(ha", "^").replace("\\(ti", "~").replace("\\-", "-").replace("\\e", "\\")
        page = set(page.replace('"', " ").split())
        for folder in HELP:
            for file in folder.glob("*.txt"):
                if file.stem not in HIDDEN:
                    missing = set(file.read_text().replace('"', " ").split()) - page
                    missing = {word for word in missing if not word.endswith((":", ",")) or word[:-1] not in page}
                    self.assertEqual(missing - {"Usage:", "Examples:"}, set(), file.name)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_has_no_warning(self):
        run = subprocess.run(["groff", "-ww", "-man", "-Tutf8", str(self.page)], capture_output=True, text=True, check=True)
        self.assertEqual(run.stderr, "")

    def test_text_in_no_known_form_is_an_error(self):
        for text in (
            "Usage: bsdb x\n\n  - odd\n   indented otherwise\n",
            "Usage: bsdb other\n",
            "Usage: bsdb x\n\nWithout options.\n",
        ):
            with self.assertRaises(SystemExit, msg=text):
                manual.parse_command("x", "", text)

    def test_a_command_without_a_help_text_is_an_error(self):
        (self.home / "more").write_text(overview().replace("Commands:\n", "Commands:\n  new           is new\n"))
        with self.assertRaisesRegex(SystemExit, "new has 0 help texts"):
            manual.main([
                str(self.home / "more"), *map(str, HELP), "--launcher", str(ROOT / "scripts/bsdb"), "--version", "1",
                "--date", "2026-01-02", "--output", str(self.home / "none"),
            ])
        self.assertFalse((self.home / "none").exists())

    @unittest.skipUnless(shutil.which("bash"), "bash is not installed")
    def test_bash_completes(self):
        shell = Typist("bash", "--norc", "--noprofile", "-i", directory=str(self.home))
        self.addCleanup(shell.close)
        shell.type(f"PS1='READY>'; bind 'set show-all-if-ambiguous on'; source {self.bash}\n", "READY>.*READY>|\nREADY>")
        shell.type("bsdb roll\t", "rollback ")
        shell.type("\x15bsdb bu\t", r"build(?s:.*)build-parquet")
        shell.type("\x15bsdb build --la\t", "--layout ")
        shell.type("\x15bsdb build -i wo\t", "words.txt")
        shell.type("\x15bsdb help vers\t", "versions ")
        shell.type("\x15bsdb build --f\t", "--f(?s:.*)--format (?s:.*)--filter-bits|--filter-bits(?s:.*)--format")

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_completes(self):
        shell = Typist("zsh", "-f", "-i", directory=str(self.home))
        self.addCleanup(shell.close)
        shell.type(f"PS1='READY>'; unsetopt zle_bracketed_paste; fpath=({self.zsh} $fpath); autoload -Uz compinit; compinit -D -u\n", "\nREADY>|\rREADY>")
        shell.type("bsdb roll\t", "rollback ")
        shell.type("\x15bsdb build --la\t", "--layout ")
        shell.type("\x15bsdb build -i wo\t", r"words\.txt")
        shell.type("\x15bsdb bu\t\t", r"build-parquet(?s:.*)does what build-parquet does")


if __name__ == "__main__":
    unittest.main()
