"""What the package exports is what ``api.txt`` lists: nothing is gone or takes other arguments than before.

Set BSDB_WRITE_API to add what is new to the list. Delete lines by hand for a new major version only: programs that use what is
gone fail."""

import inspect
import os
from pathlib import Path

import bsdbkv

LIST = Path(__file__).with_name("api.txt")


def shown(default):
    """A default value; ... stands for an object that only the package knows."""
    return repr(default) if isinstance(default, (str, bytes, int, float, tuple, type(None))) else "..."


def parameters(function):
    """The parameters of a function, without their types, which the stubs have."""
    try:
        given = [each for each in inspect.signature(function).parameters.values() if each.name != "self"]
    except ValueError:
        return "(...)"
    texts, keyword_only = [], False
    for parameter in given:
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            texts.append("*")
        default = "" if parameter.default is parameter.empty else f"={shown(parameter.default)}"
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        keyword_only |= parameter.kind is parameter.VAR_POSITIONAL
        only = "/" if parameter.kind is parameter.POSITIONAL_ONLY else ""
        texts.append(f"{stars}{parameter.name}{only}{default}")
    return f"({', '.join(texts)})"


def members(name, cls):
    """The lines of a class: its bases that others define, its constructor and its public members."""
    bases = [base.__name__ for base in cls.__mro__[1:-1] if base.__module__ != "bsdbkv._bsdb"]
    yield f"{name}: {', '.join(bases)}" if bases else name
    makers = [base for base in cls.__mro__[:-1] if {"__init__", "__new__"} & set(vars(base))]
    # The classes that others make have a constructor of the native half, if any.
    if makers and makers[0].__module__ != "bsdbkv._bsdb" and not issubclass(cls, BaseException):
        yield f"{name}{parameters(cls)}"
    for member in sorted(dir(cls)):
        owner = next(base for base in cls.__mro__ if member in vars(base)) if not member.startswith("_") else None
        if owner is not None and owner.__module__.split(".")[0] == "bsdbkv":
            found = getattr(cls, member)
            yield f"{name}.{member}{parameters(found) if callable(found) else ''}"


def lines():
    """What the package exports, a line for each name, member and signature."""
    for name in sorted(bsdbkv.__all__):
        found = getattr(bsdbkv, name)
        if inspect.isclass(found):
            yield from members(name, found)
        else:
            yield f"{name}{parameters(found) if callable(found) else ''}"


def test_nothing_is_gone_and_what_is_new_is_listed():
    now, listed = sorted(set(lines())), LIST.read_text().splitlines() if LIST.exists() else []
    gone, new = sorted(set(listed) - set(now)), sorted(set(now) - set(listed))
    assert not gone, "gone, or with other parameters: programs that use it fail"
    if new and os.environ.get("BSDB_WRITE_API"):
        LIST.write_text("".join(f"{line}\n" for line in now))
        new = []
    assert not new, "write the list with: BSDB_WRITE_API=1 pytest native/python/tests/test_api.py"
