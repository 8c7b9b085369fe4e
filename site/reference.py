"""Pages of the reference, made from the sources that define what they describe."""

import ast
import html
import re
from pathlib import Path
from typing import NamedTuple

import yaml

HELP = "bsdb-tools/src/test/resources/help"
OPENAPI = "bsdb-tools/src/main/resources/tech/bsdb/tools/serve/openapi.yaml"
REDIS = "bsdb-tools/src/main/resources/tech/bsdb/tools/serve/resp/commands.txt"
PYTHON = "native/python/python/bsdbkv/__init__.py"
JAVA = "bsdb-core/src/main/java"
MODULE = "bsdb-core/src/main/module/module-info.java"
RUST = "native/bsdb/src/lib.rs"


class Generated(NamedTuple):
    uri: str
    sources: list[str]  # files of the repository that the page stands for; relative links start from the first
    markdown: str


def pages(root: Path, api: bool) -> list[Generated]:
    return [
        *command_pages(root),
        Generated("reference/http.md", [OPENAPI], http(yaml.safe_load((root / OPENAPI).read_text(encoding="utf-8")))),
        Generated("reference/redis.md", [REDIS], redis((root / REDIS).read_text(encoding="utf-8"))),
        Generated("reference/python.md", [PYTHON, "native/python/python/bsdbkv"], python(root)),
        Generated("reference/java.md", [MODULE, f"{JAVA}/tech/bsdb"], java(root, api)),
        Generated("reference/rust.md", [RUST, "native/bsdb"], rust(root, api)),
    ]


def escape(text: str) -> str:
    """Plain text as Markdown, on one line."""
    text = re.sub(r"([\\`*_\[\]|#~{}$^])", r"\\\1", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code(text: str, language: str = "") -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


def inline(text: str) -> str:
    return f"<code>{cell_escape(html.escape(text, quote=False))}</code>"


def cell_escape(text: str) -> str:
    """HTML that Markdown leaves alone, also in a table."""
    return re.sub(r"[\\`*_\[\]|#~{}$]", lambda match: f"&#{ord(match.group())};", text)


# ---- Commands, from their --help ------------------------------------------------------------------------------------


def commands(root: Path) -> list[str]:
    """The names of the commands, in order. build-parquet is a form of build."""
    names = sorted(file.stem for file in (root / HELP).glob("*.txt"))
    if len(names) < 10:
        raise ValueError(f"{HELP} has the help of {len(names)} commands only")
    return names


def command_pages(root: Path) -> list[Generated]:
    made = []
    rows = []
    for name in commands(root):
        text = (root / HELP / f"{name}.txt").read_text(encoding="utf-8")
        markdown, summary, usage = command(name, text)
        made.append(Generated(f"reference/commands/{name}.md", [f"{HELP}/{name}.txt"], markdown))
        rows.append(f"| [bsdb {name}]({name}.txt) | {escape(summary)} |")
    overview = (
        "# Commands\n\n"
        "`scripts/bsdb COMMAND` in a checkout, `bin/bsdb COMMAND` in an unpacked archive. Each page below is what "
        "`bsdb COMMAND --help` prints; a test holds the two equal.\n\n"
        "| Command | What it does |\n|---|---|\n" + "\n".join(rows) + "\n\n"
        "Exit codes, environment variables and what all commands have in common: "
        f"[operations](../../../../../{reference_guide(root)}).\n"
    )
    return [Generated("reference/commands/index.md", [f"{HELP}/index.md", HELP], overview), *made]


def reference_guide(root: Path) -> str:
    guide = "docs/guides/reference.md"
    return guide if (root / guide).exists() else "docs/OPERATIONS.md"


OPTION = re.compile(r"  (-\S.*?)(?:\s{2,}(\S.*))?$")


def command(name: str, text: str) -> tuple[str, str, str]:
    """A page, its first sentence and the usage. Every word of the help is on the page, in order."""
    lines = text.rstrip("\n").split("\n")
    usage = []
    while lines and lines[0]:
        usage.append(lines.pop(0))
    if not usage or not usage[0].startswith("Usage: "):
        raise ValueError(f"help of {name}: no usage")
    usage[0] = usage[0][len("Usage: ") :]
    out = [f"# bsdb {name}\n", code("\n".join(usage), "text")]
    options: list[tuple[str, list[str]]] = []
    paragraph: list[str] = []
    summary = ""

    def flush() -> None:
        nonlocal summary
        if paragraph:
            whole = " ".join(paragraph)
            summary = summary or re.split(r"(?<=[.:;]) (?=[A-Z])|: |; ", whole)[0].rstrip(".:") + "."
            out.append(escape(whole) + "\n")
            paragraph.clear()
        if options:
            out.append('<dl class="bsdb-options">')
            for option, words in options:
                anchor = re.match(r"\S+?(?=[,\s]|$)", option).group()
                out.append(f'<dt id="{html.escape(anchor)}"><code>{html.escape(option)}</code></dt>')
                out.append(f"<dd>{html.escape(' '.join(words), quote=False)}</dd>")
            out.append("</dl>\n")
            options.clear()

    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line:
            flush()
        elif line == "Examples:":
            flush()
            example = [shown[2:] if shown.startswith("  ") else shown for shown in lines[at:]]
            out.append("## Examples\n")
            out.append(code("\n".join(example), "sh"))
            at = len(lines)
        elif re.fullmatch(r"[A-Z].*:", line) and (at == 1 or not lines[at - 2]) and at < len(lines) and OPTION.match(lines[at]):
            flush()
            out.append(f"## {escape(line[:-1])}\n")
        elif options and re.match(r" {8,}\S", line):
            options[-1][1].append(line.strip())
        elif OPTION.match(line):
            if paragraph:
                flush()
            option, words = OPTION.match(line).groups()
            options.append((option, [words] if words else []))
        elif line.startswith(" "):
            raise ValueError(f"help of {name}: {line!r} is neither an option nor the rest of one")
        else:
            if options:
                flush()
            paragraph.append(line)
    flush()
    page = "\n".join(out)
    plain = html.unescape(re.sub(r"</?(?:dl|dt|dd|code)(?: [^>]*)?>", " ", page)).replace("\\", "")
    shown = iter(word.rstrip(":") for word in plain.split())
    for word in text[len("Usage: ") :].replace("\\", "").split():
        if word.rstrip(":") not in shown:  # which goes on behind the word before
            raise ValueError(f"help of {name}: the page lost {word!r}")
    return page, summary, usage[0]


# ---- HTTP, from OpenAPI ---------------------------------------------------------------------------------------------


def http(api: dict) -> str:
    def resolve(node):
        while isinstance(node, dict) and "$ref" in node:
            found = api
            for part in node["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            node = found
        return node

    def cell(text: str) -> str:
        """Markdown of a description, in a cell of a table."""
        return " ".join(text.split()).replace("|", "\\|")

    def kind(schema: dict) -> str:
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            return f"[{name}](#{name.lower()})"
        for several, word in (("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")):
            if several in schema:
                return word.join(kind(one) for one in schema[several])
        if "const" in schema:
            return inline(str(schema["const"]))
        if "enum" in schema:
            return ", ".join(inline(str(value)) for value in schema["enum"])
        kinds = schema.get("type", "any")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        words = []
        for one in kinds:
            if one == "array" and "items" in schema:
                words.append("array of " + kind(schema["items"]))
            elif one == "object" and isinstance(schema.get("additionalProperties"), dict):
                words.append("object, each value " + kind(schema["additionalProperties"]))
            else:
                words.append(one + (f" ({schema['format']})" if "format" in schema else ""))
        return " or ".join(words)

    def limits(schema: dict) -> str:
        words = []
        for name, word in (("default", "default"), ("minimum", "at least"), ("maximum", "at most"), ("pattern", "pattern")):
            if name in schema:
                value = schema[name]
                words.append(f"{word} {inline(str(value).lower() if isinstance(value, bool) else str(value))}")
        return "; ".join(words)

    def example(content: dict) -> str:
        import json

        if "example" not in content:
            return ""
        shown = content["example"]
        return shown if isinstance(shown, str) else json.dumps(shown)

    def fields(schema: dict, before: str = "") -> list[str]:
        rows = []
        for name, field in schema.get("properties", {}).items():
            whole = resolve(field) if "$ref" not in field else field
            optional = "" if name in schema.get("required", []) else "optional; "
            about = "; ".join(word for word in (cell(whole.get("description", "")), limits(whole)) if word)
            shown = optional + kind(whole)
            rows.append(f"| {inline(before + name)} | {shown} | {about} |")
            nested = whole.get("items", whole) if isinstance(whole.get("items"), dict) else whole
            mark = "[]" if nested is not whole else ""
            if "$ref" not in nested and "properties" in nested:
                rows += fields(nested, f"{before}{name}{mark}.")
            values = whole.get("additionalProperties")
            if isinstance(values, dict) and "$ref" not in values and "properties" in values:
                rows += fields(values, f"{before}{name}.*.")
        return rows

    out = ["# HTTP API\n"]
    out.append(
        'Made from the <a href="../openapi.yaml">OpenAPI description</a> that the server returns at `/openapi.yaml`. '
        "[HTTP](../../../../../../../../docs/HTTP.md) has examples and clients.\n"
    )
    out.append(api["info"]["description"] + "\n")
    for path, operations in api["paths"].items():
        common = operations.get("parameters", [])
        for method, operation in operations.items():
            if method == "parameters":
                continue
            out.append(f"## {method.upper()} {escape(path)} {{#{operation['operationId'].lower()}}}\n")
            out.append(f"**{operation['summary'].rstrip('.')}.**\n")
            if "description" in operation:
                out.append(operation["description"] + "\n")
            if operation.get("security") == []:
                out.append("No token is needed.\n")
            parameters = [resolve(parameter) for parameter in common + operation.get("parameters", [])]
            if parameters:
                out.append("| Parameter | In | Type | Meaning |\n|---|---|---|---|")
                for parameter in parameters:
                    schema = resolve(parameter["schema"])
                    about = [cell(parameter.get("description", ""))]
                    if limits(schema):
                        about.append(limits(schema).capitalize() + ".")
                    if "example" in parameter:
                        about.append(f"Example: {inline(str(parameter['example']))}.")
                    out.append(f"| {inline(parameter['name'])} | {parameter['in']} | {kind(schema)} | {' '.join(about)} |")
                out.append("")
            body = resolve(operation.get("requestBody", {}))
            for media, content in body.get("content", {}).items():
                out.append(f"Body, {inline(media)}: {kind(content.get('schema', {}))}.\n")
                if example(content):
                    out.append(code(example(content), "json" if "json" in media else "text"))
            out.append("| Status | Body | Meaning |\n|---|---|---|")
            shown = []
            for status, response in operation["responses"].items():
                response = resolve(response)
                bodies = []
                for media, content in response.get("content", {}).items():
                    of = content.get("schema", {})
                    named = "$ref" in of or "oneOf" in of
                    bodies.append(inline(media) + (f": {kind(of)}" if named else ""))
                    words = resolve(of).get("description", "") if not named else ""
                    if words:
                        bodies[-1] += f": {cell(words)}"
                    if example(content) and status.startswith("2"):
                        shown.append((status, media, example(content)))
                about = cell(response["description"])
                headers = response.get("headers", {})
                if headers:
                    about += " Headers: " + ", ".join(f"[{name}](#headers)" for name in headers) + "."
                out.append(f"| {status} | {'<br>'.join(bodies)} | {about} |")
            out.append("")
            for status, media, text in shown:
                out.append(f"An answer {status}, {inline(media)}:\n")
                out.append(code(text, "json" if media == "application/json" else "text"))
    out.append("## Headers\n\n| Header | Type | Meaning |\n|---|---|---|")
    named = {}
    for operations in api["paths"].values():
        for operation in operations.values():
            for response in operation["responses"].values() if isinstance(operation, dict) else []:
                for name, header in resolve(response).get("headers", {}).items():
                    if "$ref" in header or name not in named:
                        named[name] = resolve(header)
    for name, header in sorted(named.items()):
        shown = f" Example: {inline(str(header['example']))}." if "example" in header else ""
        out.append(f"| {inline(name)} | {kind(header.get('schema', {}))} | {cell(header['description'])}{shown} |")
    out.append("\n## Schemas\n")
    for name, schema in api["components"]["schemas"].items():
        out.append(f"### {name} {{#{name.lower()}}}\n")
        if "description" in schema:
            out.append(schema["description"] + "\n")
        rows = fields(schema)
        if rows:
            out.append("| Field | Type | Meaning |\n|---|---|---|")
            out += rows
            out.append("")
        else:
            out.append(f"Type: {kind(schema)}.\n")
    return "\n".join(out)


# ---- Redis ----------------------------------------------------------------------------------------------------------


def redis(table: str) -> str:
    groups: dict[str, list[str]] = {}
    refused: dict[str, list[str]] = {}
    for number, line in enumerate(table.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = line.split(None, 8)
        if len(columns) != 9:
            raise ValueError(f"{REDIS}:{number}: not nine columns")
        name, arity, _, group, since, _, _, _, summary = columns
        if name.endswith("|help"):
            continue
        shown = inline(name.replace("|", " ").upper())
        if summary.startswith("Refused: "):
            refused.setdefault(summary.removeprefix("Refused: "), []).append(shown)
            continue
        given = int(arity)
        own = 2 if "|" in name else 1
        least = abs(given) - own
        count = f"{least} or more" if given < 0 else str(least)
        groups.setdefault(group, []).append(f"| {shown} | {count} | {since} | {escape(summary)} |")
    out = [
        "# Redis commands\n",
        "What `bsdb serve --resp` answers, from the table that the server itself uses. "
        "[Redis](../../../../../../../../../docs/REDIS.md) describes connections, clients and clusters. *Since* is the version of "
        "Redis that brought the command. Containers also have a subcommand `HELP`.\n",
    ]
    for group, rows in groups.items():
        out.append(f"## {group.capitalize()}\n\n| Command | Arguments | Since | What it does |\n|---|---|---|---|")
        out += rows
        out.append("")
    out.append("## Refused\n\nThese commands are known, and answered by an error with the reason.\n")
    out.append("| Commands | Reason |\n|---|---|")
    for reason, names in refused.items():
        out.append(f"| {', '.join(names)} | {escape(reason[0].upper() + reason[1:])} |")
    return "\n".join(out) + "\n"


# ---- Python ---------------------------------------------------------------------------------------------------------


def python(root: Path) -> str:
    tree = ast.parse((root / PYTHON).read_text(encoding="utf-8"))
    exported = []
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            exported = [name for name in ast.literal_eval(node.value) if name != "__version__"]
    if not exported:
        raise ValueError(f"{PYTHON}: no __all__")
    errors = [name for name in exported if name.endswith("Error")]
    functions = [name for name in exported if name[0].islower()]
    classes = [name for name in exported if name not in errors and name not in functions]
    out = [
        "# Python API\n",
        "What the module `bsdbkv` exports. [Python](../../../../native/python/README.md) is the guide to it. "
        "A key is `bytes`, `bytearray`, `memoryview` or `str`; a path is a `str`, `bytes`, an `os.PathLike` or a URL.\n",
    ]
    for title, names in (("Functions", functions), ("Classes", classes), ("Errors", errors)):
        out.append(f"## {title}\n")
        for name in names:
            out.append(f"::: bsdbkv.{name}\n")
            if name in NATIVE:
                out += native(root, name)
    return "\n".join(out)


# Classes of which a part is in Rust: its signatures are in the stub, and its comments in the source.
NATIVE = {"Database": "database.rs", "Store": "store.rs"}


def native(root: Path, name: str) -> list[str]:
    stub = ast.parse((root / "native/python/python/bsdbkv/_bsdb.pyi").read_text(encoding="utf-8"))
    source = (root / "native/python/src" / NATIVE[name]).read_text(encoding="utf-8")
    methods: dict[str, ast.FunctionDef] = {}
    for node in stub.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                    methods.setdefault(member.name, member)  # of overloads the first, which has the defaults
    out = []
    for method, node in methods.items():
        comment = re.search(rf"((?:^[ \t]*///[^\n]*\n)+)(?:^[ \t]*#\[[^\n]*\n)*^[ \t]*(?:pub )?fn {method}\b", source, re.M)
        if not comment:
            raise ValueError(f"native/python/src/{NATIVE[name]}: {method} has no comment")
        text = "\n".join(line.strip()[3:].removeprefix(" ") for line in comment.group(1).splitlines())
        is_property = any(getattr(decorator, "id", "") == "property" for decorator in node.decorator_list)
        for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
            argument.annotation = None
        node.args.posonlyargs, node.args.args = without_self(node.args.posonlyargs), without_self(node.args.args)
        shown = method if is_property else f"{method}({ast.unparse(node.args)})"
        out.append(f"#### {escape(method)} {{#bsdbkv.{name}.{method}}}\n")
        out.append(code(shown, "python"))
        out.append("\n\n".join(escape(" ".join(part.split())) for part in text.split("\n\n")) + "\n")
    if not out:
        raise ValueError(f"_bsdb.pyi: {name} has no methods")
    return out


def without_self(arguments: list[ast.arg]) -> list[ast.arg]:
    return [argument for argument in arguments if argument.arg != "self"]


# ---- Java -----------------------------------------------------------------------------------------------------------


DECLARATION = re.compile(
    r"^public (?:(?:static|final|abstract|sealed|non-sealed|strictfp) )*(@interface|class|interface|record|enum) (\w+)", re.M
)


def first_sentence(comment: str) -> str:
    """The first sentence of a comment of Javadoc, as HTML."""
    text = re.sub(r"^\s*\* ?", "", comment, flags=re.M)
    text = re.split(r"\n\s*\n|\n\s*<p>|\n\s*@\w|<pre>", text)[0]
    text = " ".join(text.split())
    tags: list[str] = []

    def tag(match: re.Match) -> str:
        kind, body = match.group(1), match.group(2).strip()
        if kind in ("link", "linkplain"):
            words = body.split(None, 1)
            shown = words[1] if len(words) == 2 and not words[0].endswith(",") and "(" not in words[0] else None
            body = shown or re.sub(r"^[\w.]*\.(?=[A-Z])", "", body).replace("#", ".").lstrip(".")
        tags.append(body if kind == "linkplain" else f"<code>{html.escape(body, quote=False)}</code>")
        return f"\0{len(tags) - 1}\0"

    text = re.sub(r"\{@(\w+)\s+((?:[^{}]|\{[^{}]*\})*)\}", tag, text)
    text = re.match(r".*?\.(?=\s+[A-Z\0<]|$)|.*", text, re.S).group()
    text = re.sub(r"\0(\d+)\0", lambda match: tags[int(match.group(1))], text)
    return cell_escape(text)


def java(root: Path, api: bool) -> str:
    packages = re.findall(r"^\s*exports ([\w.]+);", (root / MODULE).read_text(encoding="utf-8"), re.M)
    if not packages:
        raise ValueError(f"{MODULE}: no package is exported")
    up = "../../../../"
    out = [
        "# Java API\n",
        "The public types of the module `tech.bsdb`, each with the first sentence of its Javadoc. "
        f"The [guide]({up}{java_guide(root)}) shows how they work together.\n",
    ]
    out.append('<p><a href="../../api/java/index.html">The whole Javadoc</a></p>\n' if api else "")
    for package in packages:
        folder = root / JAVA / package.replace(".", "/")
        about = (folder / "package-info.java").read_text(encoding="utf-8")
        out.append(f"## {package}\n")
        comment = re.search(r"/\*\*(.*?)\*/", about, re.S)
        if not comment:
            raise ValueError(f"{package}: no comment")
        out.append(first_sentence(comment.group(1)) + "\n")
        out.append("| Type | Kind | What it is |\n|---|---|---|")
        for file in sorted(folder.glob("*.java")):
            text = file.read_text(encoding="utf-8")
            declared = DECLARATION.search(text)
            if not declared:
                continue
            comments = re.findall(r"/\*\*((?:(?!\*/).)*)\*/", text[: declared.start()], re.S)
            if not comments:
                raise ValueError(f"{file}: {declared.group(2)} is public and has no comment")
            kind = {"@interface": "annotation"}.get(declared.group(1), declared.group(1))
            if kind == "class" and declared.group(2).endswith("Exception"):
                kind = "exception"
            link = f"../java/{package.replace('.', '/')}/{file.name}"
            out.append(f"| [`{declared.group(2)}`]({link}) | {kind} | {first_sentence(comments[-1])} |")
        out.append("")
    return "\n".join(out)


def java_guide(root: Path) -> str:
    return "docs/guides/java.md" if (root / "docs/guides/java.md").exists() else "docs/OPERATIONS.md"


# ---- Rust -----------------------------------------------------------------------------------------------------------


def rust(root: Path, api: bool) -> str:
    text = (root / RUST).read_text(encoding="utf-8")
    own = "\n".join(line[3:].removeprefix(" ") for line in text.splitlines() if line.startswith("//!"))
    own = re.sub(r"^# .*\n", "", own, flags=re.M).replace("```no_run", "```rust")
    own = re.sub(r"\[(`[^`]+`)\](?!\()", r"\1", own)
    source = (root / RUST).parent
    out = [
        "# Rust API\n",
        own + "\n",
        "[Python, C and Rust](../../../docs/NATIVE.md) describes the build, the features and what the crate can read.\n",
        '<p><a href="../../api/rust/bsdb/index.html">The whole documentation of the crate</a></p>\n' if api else "",
        "## Public items\n",
        "| Item | Kind | What it is |\n|---|---|---|",
    ]
    uses = re.findall(r"((?:#\[cfg\([^\n]*\)\]\n)?)pub use ([^;]+);", text)
    if not uses:
        raise ValueError(f"{RUST}: nothing is public")
    for condition, use in uses:
        feature = re.search(r'feature = "(\w+)"', condition)
        only = f" With the feature `{feature.group(1)}`." if feature else " On Unix." if "unix" in condition else ""
        for path, name in named(" ".join(use.split())):
            kind, about = item(source, path, name)
            out.append(f"| `{name}` | {kind} | {about}{only} |")
    return "\n".join(out) + "\n"


def named(use: str) -> list[tuple[str, str]]:
    """The modules and names of a use: a::{b::C, d} has (a::b, C) and (a, d)."""
    match = re.fullmatch(r"([\w:]*?)(?:::)?\{(.*)\}", use)
    if not match:
        path, _, name = use.strip().rpartition("::")
        return [(path, name)]
    parts, depth, start, inner = [], 0, 0, match.group(2)
    for at, character in enumerate(inner + ","):
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            parts.append(inner[start:at].strip())
            start = at + 1
    found = []
    for part in filter(None, parts):
        found += [("::".join(filter(None, (match.group(1), path))), name) for path, name in named(part)]
    return found


def item(source: Path, path: str, name: str) -> tuple[str, str]:
    """The kind of an item and the first sentence of its comment."""
    file = source / path.replace("::", "/")
    candidates = [file.with_suffix(".rs"), file / "mod.rs"]
    for candidate in candidates:
        if not candidate.exists():
            continue
        text = candidate.read_text(encoding="utf-8")
        found = re.search(
            rf"((?:^[ \t]*///[^\n]*\n)+)(?:^[ \t]*#\[.*?\]\n)*^[ \t]*pub (?:async )?(struct|enum|fn|trait|type|const) {name}\b",
            text,
            re.M | re.S,
        )
        if found:
            words = " ".join(line.strip()[3:].strip() for line in found.group(1).splitlines())
            sentence = re.match(r".*?\.(?=\s|$)|.*", words).group()
            sentence = re.sub(r"\[(`[^`]+`)\](?!\()", r"\1", sentence).replace("|", "\\|")
            return {"fn": "function"}.get(found.group(2), found.group(2)), sentence
    raise ValueError(f"{RUST}: {path}::{name} has no comment, or is elsewhere")
