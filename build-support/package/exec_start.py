#!/usr/bin/env python3
"""Prints the command and environment of a systemd service, as systemd would run it: exec_start.py UNIT ROOT

Reads Environment=, EnvironmentFile= (below ROOT) and ExecStart= of the unit file. Prints words, each followed by a NUL:
NAME=VALUE of the environment, then "--", then the command. systemd expands ${NAME} within a word and divides $NAME, a
word of its own, at blanks; this does the same, and knows no other specifiers.
"""

import re
import shlex
import sys
from pathlib import Path


def settings(unit, key):
    return re.findall(rf"^{key}=(.*)$", unit, re.MULTILINE)


def command(unit, root):
    environment = {}
    for line in settings(unit, "Environment"):
        environment.update(word.split("=", 1) for word in shlex.split(line))
    for name in settings(unit, "EnvironmentFile"):
        for line in (root / name.lstrip("-").lstrip("/")).read_text("utf-8").splitlines():
            if line.strip() and not line.lstrip().startswith(("#", ";")):
                variable, value = line.split("=", 1)
                environment[variable.strip()] = "".join(shlex.split(value)) if value[:1] in "\"'" else value.strip()
    (line,) = settings(unit, "ExecStart")
    if "%" in line:
        sys.exit(f"exec_start.py: ExecStart has a specifier: {line}")
    words = []
    for word in line.split():
        whole = re.fullmatch(r"\$(\w+)", word)
        if whole:
            words += environment.get(whole.group(1), "").split()
        else:
            words.append(re.sub(r"\$\{(\w+)\}", lambda name: environment.get(name.group(1), ""), word))
    return environment, words


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    environment, words = command(Path(sys.argv[1]).read_text("utf-8"), Path(sys.argv[2]))
    for word in [*(f"{name}={value}" for name, value in environment.items()), "--", *words]:
        sys.stdout.write(word + "\0")
