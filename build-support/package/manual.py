#!/usr/bin/env python3
"""Writes the manual page and the shell completions of bsdb from what its commands say with --help.

usage: manual.py OVERVIEW HELP_DIR... --launcher FILE --version V --date YYYY-MM-DD --output DIR

OVERVIEW is a file with the output of "bsdb --help", and each HELP_DIR has files COMMAND.txt with the output of
"bsdb COMMAND --help". Every command of the overview must have one. The environment variables are those in the comment
at the head of the launcher. Writes DIR/man/man1/bsdb.1, DIR/bash-completion/completions/bsdb and
DIR/zsh/site-functions/_bsdb. The same input gives the same bytes.
"""

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

OPTION = re.compile(r"  (-\S.*)")
# Where descriptions begin.
COLUMN = 30


@dataclass
class Option:
    """An entry such as "  -h, --help   show this help"."""

    flags: list
    argument: str  # "" if it takes none
    text: str = ""


@dataclass
class Section:
    title: str
    options: list = field(default_factory=list)


@dataclass
class Command:
    name: str
    summary: str
    usage: str = ""
    paragraphs: list = field(default_factory=list)
    sections: list = field(default_factory=list)
    examples: list = field(default_factory=list)

    def options(self):
        return [option for section in self.sections for option in section.options]


def fail(message):
    sys.exit(f"manual.py: {message}")


def parse_option(label, where):
    words = label.split(" ")
    flags = []
    while words and words[0].startswith("-"):
        flags.append(words.pop(0).rstrip(","))
    if not flags or len(words) > 1:
        fail(f"{where}: not an option: {label!r}")
    return Option(flags, words[0] if words else "")


def parse_command(name, summary, text):
    """The parts of a help text, whose every line is in one of them."""
    command = Command(name, summary)
    lines = text.rstrip("\n").split("\n")
    if not lines[0].startswith(f"Usage: bsdb {name}"):
        fail(f"{name}: begins with {lines[0]!r}")
    command.usage = lines[0].removeprefix("Usage: ")
    paragraph = None
    option = None
    for number, line in enumerate(lines[1:], 1):
        where = f"{name}, line {number + 1}"
        if command.examples and not line.startswith("Examples:"):
            command.examples.append(line)
            continue
        if not line:
            paragraph = option = None
        elif line == "Examples:":
            command.examples.append(line)
        elif OPTION.match(line):
            paragraph = None
            if not command.sections:
                command.sections.append(Section(""))
            label, _, rest = line[2:].partition("  ")
            option = parse_option(label, where)
            option.text = rest.strip()
            command.sections[-1].options.append(option)
        elif line.startswith(" " * COLUMN) and option:
            option.text = f"{option.text} {line.strip()}".lstrip()
        elif line.startswith(" "):
            fail(f"{where}: neither an option nor its description: {line!r}")
        elif paragraph is None and line.endswith(":") and lines[number + 1].startswith("  -"):
            command.sections.append(Section(line.rstrip(":")))
        elif paragraph is None:
            option = None
            paragraph = [line]
            command.paragraphs.append(paragraph)
            if command.sections:
                command.sections.append(Section(""))
        else:
            paragraph.append(line)
    command.paragraphs = [" ".join(lines) for lines in command.paragraphs]
    command.examples = command.examples[1:]
    command.sections = [section for section in command.sections if section.options]
    if not command.options():
        fail(f"{name}: no options")
    return command


def parse_overview(text):
    """What the command is, and the names and summaries of its commands."""
    about = text.split("\n", 1)[0].rstrip(".")
    match = re.search(r"\nCommands:\n((?:  .*\n)+)", text)
    if not match:
        fail("the overview has no commands")
    commands = []
    for line in match.group(1).splitlines():
        name, summary = line.split(None, 1)
        commands.append((name, summary))
    return about, commands


def environment(launcher):
    """The variables in the comment at the head of the launcher: names and descriptions."""
    variables = []
    for line in launcher.splitlines()[1:]:
        if not line.startswith("#"):
            break
        match = re.match(r"#   ([A-Z_]+)\s+(.*)", line)
        if match:
            variables.append([match.group(1), match.group(2)])
        elif variables and line.startswith("#      "):
            variables[-1][1] += " " + line[1:].strip()
    if not variables:
        fail("the launcher describes no variables")
    # There, the script is in the checkout, and its flags follow.
    changes = (("scripts/bsdb", "bsdb"), ("the flags below", "the flags that bsdb sets"))
    for old, new in changes:
        variables = [(name, text.replace(old, new)) for name, text in variables]
    return variables


# ---- Manual page ----------------------------------------------------------------------------------------------------


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti")
    return "\\&" + text if text.startswith(".") else text


def manual(about, commands, variables, version, date):
    out = [
        "." + '\\" Written by build-support/package/manual.py from the --help of each command.',
        f'.TH BSDB 1 "{date}" "bsdb {version}" "User Commands"',
        ".\\\" Neither spaces between words nor hyphens that the help has not.",
        ".ad l",
        ".nh",
        ".SH NAME",
        "bsdb \\- " + roff(re.sub(r"^bsdb builds ", "build ", about).replace(" and looks up ", " and look up ")),
        ".SH SYNOPSIS",
        ".B bsdb",
        ".I COMMAND",
        "[\\fIARGUMENT\\fR...]",
        ".SH DESCRIPTION",
        roff(about + "."),
        "These are the commands:",
    ]
    for command in commands:
        out += [".TP", f"\\fB{roff(command.name)}\\fR", roff(command.summary)]
    out += [".PP", "\\fBbsdb\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR shows the options of a command."]
    for command in commands:
        out += [f".SH BSDB {roff(command.name.upper())}", ".nf", f"\\fB{roff(command.usage)}\\fR", ".fi"]
        for paragraph in command.paragraphs:
            out += [".PP", roff(paragraph)]
        for section in command.sections:
            if section.title:
                out.append(f'.SS "{roff(section.title)}"')
            for option in section.options:
                flags = ", ".join(f"\\fB{roff(flag)}\\fR" for flag in option.flags)
                argument = f" \\fI{roff(option.argument)}\\fR" if option.argument else ""
                out += [".TP", flags + argument, roff(option.text)]
        if command.examples:
            out += [".SS Examples", ".nf", *(roff(line.removeprefix("  ")) for line in command.examples), ".fi"]
    out += [
        ".SH EXIT STATUS",
        ".TP",
        "0",
        "done, or found",
        ".TP",
        "1",
        "a key is absent, or databases differ",
        ".TP",
        "2",
        "error",
        ".SH ENVIRONMENT",
    ]
    for name, text in variables:
        out += [".TP", f"\\fB{name}\\fR", roff(text)]
    return "\n".join(out) + "\n"


# ---- Completions ----------------------------------------------------------------------------------------------------

# What the shell offers for the argument of an option, or of a command: names of files, or nothing.
FILES = re.compile(r"FILE|DIR|PLACE|PATH|STORE|SRC|DEST|DATABASE")


def takes_files(argument):
    return bool(FILES.search(argument))


def bash(commands):
    names = " ".join(command.name for command in commands)
    out = [
        "# bash completion of bsdb. Written by build-support/package/manual.py from the --help of each command.",
        "_bsdb() {",
        "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options='' arguments='' files=''",
        "  COMPREPLY=()",
        "  if ((COMP_CWORD == 1)) || { ((COMP_CWORD == 2)) && [[ $before == help ]]; }; then",
        f"    mapfile -t COMPREPLY < <(compgen -W '{names} --help --version' -- \"$current\")",
        "    return",
        "  fi",
        "  case ${COMP_WORDS[1]} in",
    ]
    for command in commands:
        options = command.options()
        flags = [flag for option in options for flag in option.flags]
        files = [flag for option in options if takes_files(option.argument) for flag in option.flags]
        others = [
            flag for option in options if option.argument and not takes_files(option.argument) for flag in option.flags
        ]
        out += [
            f"    {command.name})",
            f"      options='{' '.join(flags)}'",
            f"      files=' {' '.join(files)} '",
            f"      arguments=' {' '.join(others)} '",
            "      ;;",
        ]
    out += [
        "  esac",
        '  if [[ $arguments == *" $before "* ]]; then',
        "    return",
        '  elif [[ $current == -* && $files != *" $before "* ]]; then',
        '    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")',
        "  else",
        "    compopt -o filenames 2>/dev/null",
        '    mapfile -t COMPREPLY < <(compgen -f -- "$current")',
        "  fi",
        "}",
        "complete -F _bsdb bsdb",
    ]
    return "\n".join(out) + "\n"


def first_words(text):
    """The beginning of a description, in a line of a menu."""
    words = re.split(r"[;:.] |: | \(", text + " ", maxsplit=1)[0].strip()
    return words if len(words) <= 60 else words[:60].rsplit(" ", 1)[0].rstrip(",") + " ..."


def zsh_quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh(commands):
    out = [
        "#compdef bsdb",
        "# zsh completion of bsdb. Written by build-support/package/manual.py from the --help of each command.",
        "_bsdb() {",
        "  local -a commands",
        "  commands=(",
        *("    " + zsh_quote(f"{command.name}:{command.summary}") for command in commands),
        "  )",
        "  if ((CURRENT == 2)) || { ((CURRENT == 3)) && [[ ${words[2]} == help ]]; }; then",
        "    _describe command commands",
        "    return",
        "  fi",
        "  local command=${words[2]}",
        "  shift words",
        "  ((CURRENT--))",
        "  case $command in",
    ]
    for command in commands:
        out += [f"    {command.name})", "      _arguments \\"]
        for option in command.options():
            text = re.sub(r"([\[\]:\\])", r"\\\1", first_words(option.text))
            argument = ""
            if option.argument:
                name = re.sub(r"[\[\]:\\]", "", option.argument)
                argument = f":{name}:{'_files' if takes_files(option.argument) else ' '}"
            for flag in option.flags:
                out.append("        " + zsh_quote(f"*{flag}[{text}]{argument}") + " \\")
        out += ["        '*:argument:_files'", "      ;;"]
    out += ["  esac", "}", '_bsdb "$@"']
    return "\n".join(out) + "\n"


def main(arguments):
    parser = argparse.ArgumentParser(prog="manual.py", description=__doc__.split("\n", 1)[0])
    parser.add_argument("overview", type=Path)
    parser.add_argument("help", type=Path, nargs="+")
    parser.add_argument("--launcher", type=Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--date", required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args(arguments)

    about, listed = parse_overview(options.overview.read_text("utf-8"))
    commands = []
    for name, summary in listed:
        texts = [folder / f"{name}.txt" for folder in options.help if (folder / f"{name}.txt").is_file()]
        if len(texts) != 1:
            fail(f"{name} has {len(texts)} help texts in {', '.join(map(str, options.help))}")
        commands.append(parse_command(name, summary, texts[0].read_text("utf-8")))
    variables = environment(options.launcher.read_text("utf-8"))
    for name, text in (
        ("man/man1/bsdb.1", manual(about, commands, variables, options.version, options.date)),
        ("bash-completion/completions/bsdb", bash(commands)),
        ("zsh/site-functions/_bsdb", zsh(commands)),
    ):
        file = options.output / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
