"""What MkDocs does for the site beyond its configuration, mkdocs.yml.

- Pages of the reference are made from the sources that define what they describe: reference.py.
- Pages that lie outside docs/ become pages of the site: OUTSIDE.
- Links are those that work on a code host. Here they lead to the page that the site has for their target, or to the
  repository: Links.
- Pictures become parts of their pages, and take on the colours that readers choose.
- Plots are drawn from the harness' raw files, below the first mention of each: plots.py.
- Every link of the finished site is followed, as far as it stays on the site: check.
"""

import os
import posixpath
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "site"))

import plots  # noqa: E402
import reference  # noqa: E402

# Pages outside docs/, which keep their paths.
OUTSIDE = [
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "SECURITY.md",
    "deploy/README.md",
    "native/c/README.md",
    "native/python/README.md",
]
# Pages without a list of others beside them.
ALONE = ["index.md", "BENCHMARKS.md"]


class Site:
    """What one build knows: where the repository is, and which page of the site stands for which file."""

    def __init__(self) -> None:
        pom = ElementTree.parse(ROOT / "pom.xml").getroot()
        space = {"m": "http://maven.apache.org/POM/4.0.0"}
        address = pom.findtext("m:properties/m:repository.url", None, space) or "https://code.example/bsdb/bsdb"
        version = pom.findtext("m:version", None, space) or ""
        self.repository = address.strip().rstrip("/")
        self.version = version
        self.ref = "main" if version.endswith("-SNAPSHOT") else f"v{version}"
        self.pages: dict[str, str] = {}  # file of the repository -> source of the site
        self.sources: dict[str, str] = {}  # the other way round
        self.tracked: set[str] = set()
        self.page = None

    def add(self, uri: str, *paths: str) -> None:
        """Notes that a page stands for files, the first of which the page's relative links start from."""
        self.sources[uri] = paths[0]
        for path in paths:
            self.pages[path] = uri

    def in_repository(self, path: str) -> str:
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{self.repository}/{kind}/{self.ref}/{path}"

    def exists(self, path: str) -> bool:
        """Whether the repository has a file or directory: not what a build left there."""
        if not self.tracked:
            listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
            if listed.returncode != 0:  # an archive of the sources
                return (ROOT / path).exists()
            for file in listed.stdout.splitlines():
                while file and file not in self.tracked:
                    self.tracked.add(file)
                    file = posixpath.dirname(file)
        return path in self.tracked

    def link(self, page: str, link: str) -> str:
        """A link of a page, as the site needs it."""
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/"):
            return link
        source = self.sources.get(page, posixpath.join("docs", page))
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), unquote(parts.path)))
        behind = ("?" + parts.query if parts.query else "") + ("#" + parts.fragment if parts.fragment else "")
        if path == "docs/decisions":
            path = "docs/decisions/0001-pages-with-inline-checksums.md"
        if path in self.pages:
            return posixpath.relpath(self.pages[path], posixpath.dirname(page) or ".") + behind
        if path.startswith("../") or not self.exists(path):
            return link  # which MkDocs reports
        return self.in_repository(path) + behind


class Links(Treeprocessor):
    def __init__(self, site: Site) -> None:
        super().__init__()
        self.site = site

    def run(self, root):
        for element in root.iter():
            name = {"a": "href", "img": "src"}.get(element.tag)
            link = element.get(name) if name else None
            if link and self.site.page:
                element.set(name, self.site.link(self.site.page, link))


class LinksExtension(Extension):
    def __init__(self, site: Site) -> None:
        super().__init__()
        self.site = site

    def extendMarkdown(self, md) -> None:
        md.treeprocessors.register(Links(self.site), "bsdb-links", 1)  # right before that of MkDocs


site = Site()


def on_config(config):
    global site
    site = Site()
    config.repo_url = site.repository
    config.repo_name = site.repository.split("://")[-1]
    config.edit_uri = ""
    config.copyright = f"bsdb {site.version} · Apache License 2.0"
    config.markdown_extensions.append(LinksExtension(site))
    if os.environ.get("MIKE_DOCS_VERSION"):
        config.extra["version"] = {"provider": "mike", "default": "latest", "alias": True}
    config.nav = expand(config.nav, Path(config.docs_dir))
    return config


def expand(nav, docs: Path):
    """Replaces names that end in /* by the pages of that folder."""
    if isinstance(nav, str):
        if not nav.endswith("/*"):
            return nav
        folder = nav[:-2]
        if folder == "reference/commands":
            return [f"{folder}/index.md"] + [{f"bsdb {name}": f"{folder}/{name}.md"} for name in reference.commands(ROOT)]
        pages = sorted(file.name for file in (docs / folder).glob("*.md"))
        if not pages:
            raise PluginError(f"mkdocs.yml: {nav}: there are no such pages")
        return [f"{folder}/{page}" for page in pages]
    if isinstance(nav, dict):
        return {title: expand(below, docs) for title, below in nav.items()}
    return [expand(item, docs) for item in nav]


def on_files(files, config):
    for file in files:
        if file.generated_by is None and file.src_dir and Path(file.src_dir) == Path(config.docs_dir):
            site.add(file.src_uri, posixpath.join("docs", file.src_uri))
    for path in OUTSIDE:
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
        site.add(path, path)
    api = os.environ.get("BSDB_SITE_API") == "1"
    for page in reference.pages(ROOT, api):
        files.append(File.generated(config, page.uri, content=page.markdown))
        site.add(page.uri, *page.sources)
    files.append(File.generated(config, "reference/openapi.yaml", abs_src_path=str(ROOT / reference.OPENAPI)))
    return files


def on_page_markdown(markdown, page, config, files):
    site.page = page.file.src_uri
    if site.page in ALONE:
        page.meta["hide"] = ["navigation"]
    return plots.insert(markdown, site.sources.get(site.page, ""), ROOT)


def on_page_content(html, page, config, files):
    site.page = None
    html = re.sub(r'<img alt="[^"]*" src="[^"]*(images/[\w-]+\.svg)" ?/?>', picture, html)
    return re.sub(r"<table>(.*?)</table>", table, html, flags=re.S)


def table(match: re.Match) -> str:
    """A table in a box in which it scrolls. In code, \\| is a bar, as on code hosts."""
    rows = re.sub(r"<code>[^<]*</code>", lambda code: code.group().replace("\\|", "|"), match.group(1))
    return f'<div class="bsdb-table" tabindex="0"><table>{rows}</table></div>'


def picture(match: re.Match) -> str:
    """A picture of docs/images as a part of the page, whose colours it then has."""
    text = (ROOT / "docs" / match.group(1)).read_text(encoding="utf-8")
    return " ".join(line.strip() for line in text.splitlines())


def on_post_page(output, page, config):
    if page.file.src_uri == "zh.md":
        output = output.replace('<html lang="en"', '<html lang="zh-CN"', 1)
    return output


def on_post_build(config):
    where = Path(config.site_dir)
    if os.environ.get("BSDB_SITE_API") == "1":
        for part in ("java", "rust"):
            shutil.copytree(ROOT / "target" / "site-api" / part, where / "api" / part)
    broken = check(where)
    if broken:
        raise PluginError("links that lead nowhere:\n" + "\n".join(broken))


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.names: set[str] = set()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if not value:
                continue
            if name == "id" or name == "name" and tag == "a":
                self.names.add(value)
            elif name in ("href", "src"):
                self.links.add(value)


def check(where: Path) -> list[str]:
    """Links of a site, without its api/, that lead to no file or no place of a page."""
    pages: dict[Path, Page] = {}
    for file in sorted(where.rglob("*.html")):
        if file.relative_to(where).parts[0] != "api" and file.name != "404.html":
            pages[file] = Page()
            pages[file].feed(file.read_text(encoding="utf-8"))
    broken = []
    for file, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = Path(os.path.normpath(file.parent / unquote(parts.path))) if parts.path else file
            if target.is_dir():
                target = target / "index.html"
            name = unquote(parts.fragment)
            if not target.is_relative_to(where) or not target.is_file():
                broken.append(f"  {file.relative_to(where)}: {link}: no such file")
            elif name and target in pages and name not in pages[target].names and not name.startswith("__"):
                broken.append(f"  {file.relative_to(where)}: {link}: no such place")
    return broken
