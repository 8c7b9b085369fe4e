"""Tests test_docs.py: broken pages must fail, at the right line, and sound ones must pass. Run by scripts/test-docs --self-test."""

import tempfile
from pathlib import Path

import test_docs

FENCE = "```"
LOOKUP = """sh
printf 'apple a fruit\\n' >words.txt
bsdb build -q -i words.txt -o ./rdb
bsdb get -d ./rdb apple    # a fruit
"""


def block(text, mark=None):
    return (f"<!-- test: {mark} -->\n" if mark else "") + FENCE + text + FENCE + "\n"


# Name, the page, and parts of the failures, each with its line; none if the page is sound.
CASES = [
    ("a right output", block(LOOKUP, "outputs 1"), []),
    ("a wrong output behind a command", block(LOOKUP.replace("# a fruit", "# a root"), "outputs 1"), [(1, "the mark says 1")]),
    ("a right output that no mark counts", block(LOOKUP), [(1, "the mark says 0")]),
    ("a wrong block of output", block("sh\necho red\n") + "\n" + block("\ngreen\n"), [(5, "this is not what")]),
    ("a right block of output", block("sh\necho red; echo warm >&2\n") + "\n" + block("\nred\nwarm\n"), []),
    ("a line of output too few", block("sh\necho red; echo green\n") + "\n" + block("\nred\n"), [(5, "this is not what")]),
    ("output of Python", block("python\nprint(1 + 1)   # 2\n", "outputs 1"), []),
    ("wrong output of Python", block("python\nprint(1 + 2)   # 2\n", "outputs 1"), [(1, "the mark says 1")]),
    ("an unknown option", block("sh\nbsdb get -d ./rdb --frobnicate apple\n"), [(2, "unknown option --frobnicate")]),
    ("an unknown option in what is not run", block("sh\nbsdb push --nope ./rdb hdfs://a/b\n", "needs hadoop"), [(3, "unknown option --nope")]),
    ("an unknown option in a pipe and a value", block("sh\nx=$(cat a | bsdb scan --nope)\n", "needs hadoop"), [(3, "unknown option --nope")]),
    ("an unknown option in the text", "Call `bsdb scan --nope -d ./rdb`.\n", [(1, "unknown option --nope")]),
    ("an unknown command", block("sh\nbsdb frobnicate\n", "needs hadoop"), [(3, 'no command "frobnicate"')]),
    ("an option without a value", block("sh\nbsdb get -d\n", "needs hadoop"), [(3, "-d needs a value")]),
    ("a syntax error of the shell", block("sh\nif true; then\n", "needs docker"), [(2, "sh -n")]),
    ("a syntax error of bash", block("bash\necho 'a\n", "needs docker"), [(3, "syntax error")]),
    ("a syntax error of Python", block("python\nx = (\n", "needs spark"), [(3, "syntax error")]),
    ("a syntax error of Java", block("java\nint x = ;\n", "needs spark; fragment "), [(3, "illegal start of expression")]),
    ("an unknown class of Java", block("java\nDatabaze d = null;\n", "fragment "), [(3, "cannot find symbol")]),
    ("bad JSON", block('json\n{"a": 1\n'), [(2, "not JSON")]),
    ("a foreign block without a mark", block("sh\nfrobnicate --now\n"), [(2, "exits with 127")]),
    ("a foreign block with a mark", block("sh\nfrobnicate --now\n", "needs docker"), []),
    ("a failure behind a success", block("sh\ntrue\nfalse\ntrue\n"), [(3, "exits with 1")]),
    ("an expected failure", block("sh\nfalse\n", "exits 1 for false"), []),
    ("an expected failure that does not come", block("sh\ntrue\n", "exits 1 for true"), [(3, "exits with 0, not 1")]),
    ("a missing script", block("sh\nscripts/frobnicate\n", "needs docker"), [(3, "no such file in the checkout")]),
    ("an unknown language", block("cobol\nSTOP RUN.\n"), [(1, 'unknown language "cobol"')]),
    ("a plain block without a mark", block("\nsomething\n"), [(1, "a plain block")]),
    ("a plain block with a mark", block("\nsomething\n", "text"), []),
    ("Java that is no program", block("java\nint x = 1;\n"), [(1, "mark it as a fragment")]),
    ("a mark without a block", "<!-- test: text -->\n\nwords\n", [(1, "a mark without a block")]),
    ("an unknown clause", block("sh\ntrue\n", "ignore"), [(1, "unknown clause")]),
    ("an unknown need", block("sh\ntrue\n", "needs luck"), [(1, "needs luck")]),
    ("an unknown fixture", block("sh\ntrue\n", "given gold"), [(1, "given gold")]),
    ("a malformed mark", "<!-- test needs docker -->\n" + block("sh\ntrue\n"), [(1, "not a mark")]),
    ("a statement for a need that is not there", block("sh\ntrue\n", "needs docker for moby"), [(1, 'no statement of the block contains "moby"')]),
    ("a block without an end", FENCE + "sh\ntrue\n", [(1, "does not end")]),
    ("a block in a quotation", "> " + FENCE + "sh\n> false\n> " + FENCE + "\n", [(1, "a block in a quotation"), (3, "a block in a quotation")]),
    ("a block behind the mark of a list", "- " + FENCE + "sh\n  false\n  " + FENCE + "\n", [(1, "begins with a list"), (3, "does not end")]),
    ("an indented block", "Run:\n\n    false\n", [(3, "an indented block")]),
    ("a block in a list", "- Run:\n\n  " + block("sh\nfalse\n").replace("\n", "\n  "), [(4, "exits with 1")]),
    ("a command that changes the machine", block("sh\ntrue; sudo mkdir /opt/bsdb\n"), [(2, "sudo works on the machine")]),
    ("a script that changes the checkout", block("sh\nscripts/release --dry-run\n"), [(2, "scripts/release works on")]),
    ("the checkout is out of reach", block("sh\n[ ! -e pom.xml ] && [ ! -e build-support ]\n"), []),
    ("what a page is given", block("sh\nbsdb get -d ./rdb apple   # a fruit\n", "given ./rdb; outputs 1"), []),
    ("each page begins anew", block("sh\n[ ! -e rdb ]\n"), []),
    ("variables and jobs live on", block("sh\nsleep 60 &\nx=1\n") + "\n" + block("sh\n[ $x = 1 ] && kill $!\n"), []),
    (
        "a block in a tab",
        '=== "Shell"\n\n    ' + block("sh\nfalse\n").replace("\n", "\n    ") + '\n=== "Python"\n\n    ' + block("python\nprint(2)  # 3\n").replace("\n", "\n    "),
        [(4, "exits with 1")],
    ),
    (
        "a server at a documented port",
        block("sh\nbsdb serve -d ./rdb --resp 6379 &\ncurl http://localhost:9999/bsdb/apple   # a fruit\n", "given ./rdb; outputs 1")
        + "\n"
        + block("python\nimport urllib.request\nprint(urllib.request.urlopen('http://localhost:9999/bsdb/apple').read())  # b'a fruit'\n", "outputs 1"),
        [],
    ),
    ("a server in the foreground", block("sh\nbsdb serve -d ./rdb   # until it is stopped\necho over   # over\n", "given ./rdb; outputs 1"), []),
    ("a server that does not start", block("sh\nbsdb serve -d ./nothing &\n"), [(2, "exits with 1")]),
    ("a renamed port in the output", block("sh\necho 9999   # 9999\n", "outputs 1"), []),
    ("text that is not in its file", block("python\nx = 1\n", "same as README.md"), [(2, "the block is not in README.md")]),
]


def run(options):
    options.check_only, options.require, options.verbose = False, "", False
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="bsdb-docs-self-") as folder:
        pages = []
        for number, (_, text, _) in enumerate(CASES):
            path = Path(folder) / f"case-{number}.md"
            path.write_text(text)
            pages.append(test_docs.Page(path, path.name))
        failures, _ = test_docs.test_pages(pages, options)
        for number, (name, _, expected) in enumerate(CASES):
            found = [(line, message) for page, line, message in failures if page == f"case-{number}.md"]
            right = len(found) == len(expected) and all(
                line == at and part in message for (line, message), (at, part) in zip(found, expected)
            )
            if not right:
                wrong += 1
                print(f"WRONG: {name}: expected {expected or 'no failure'}, found {found or 'none'}")
    print(f"self-test: {len(CASES)} pages, {wrong} wrong")
    return 1 if wrong else 0
