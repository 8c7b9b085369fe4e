"""Visits every page of the site in Chromium, wide in light colours and narrow in dark ones: look_at_site.py DIR [--shots DIR] [PAGE...]

Serves DIR, the built site, on a free port of this machine and reports

- pages that scroll sideways, and elements that stick out of them,
- errors on the console, and requests that failed,
- requests to any other host,
- that the search finds nothing for a word of the home page.

With --shots, writes a picture of each page at each width. PAGE limits the visit to pages whose paths contain that text.
The environment variable CHROMIUM names the browser; by default chromium, google-chrome or chrome of the PATH. Exit code: 0 if
there is nothing to report, 1 if there is, 2 on errors. Needs the package playwright: scripts/site --look installs it.
"""

import argparse
import functools
import http.server
import os
import shutil
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

SIZES = {"wide": (1280, 900, "light"), "narrow": (390, 844, "dark")}

# What sticks out of the window and is not inside something that scrolls or hides it.
STICKING_OUT = """() => {
  const width = document.documentElement.clientWidth, found = [];
  for (const element of document.querySelectorAll('.md-content *, .md-header *, .md-tabs')) {
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.right <= width + 1) continue;
    let inside = false;
    for (let up = element.parentElement; up && up !== document.body; up = up.parentElement) {
      if (getComputedStyle(up).overflowX !== 'visible') { inside = true; break; }
    }
    if (!inside) found.push(element.tagName.toLowerCase() + (element.className ? '.' + element.className : '')
      + ': ' + (element.textContent || '').trim().slice(0, 60));
  }
  return {scrolls: document.scrollingElement.scrollWidth - width, found: found.slice(0, 5)};
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def browser_path() -> str:
    named = os.environ.get("CHROMIUM")
    for name in [named] if named else ["chromium", "google-chrome", "chrome"]:
        found = shutil.which(name)
        if found:
            return found
    sys.exit("look_at_site: Chromium is not installed; set CHROMIUM to a browser")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("pages", nargs="*")
    parser.add_argument("--shots", type=Path)
    options = parser.parse_intermixed_args()
    if not (options.site / "index.html").is_file():
        parser.error(f"{options.site} has no index.html: build the site with scripts/site")
    from playwright.sync_api import sync_playwright

    handler = functools.partial(Quiet, directory=str(options.site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host = f"127.0.0.1:{server.server_port}"
    pages = sorted(str(file.parent.relative_to(options.site)) for file in options.site.rglob("index.html"))
    pages = [page for page in pages if not page.startswith("api/") and page != "api"]
    if options.pages:
        pages = [page for page in pages if any(text in page for text in options.pages)]
    reports: list[str] = []
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update"]
        browser = playwright.chromium.launch(executable_path=browser_path(), args=flags)
        for size, (width, height, scheme) in SIZES.items():
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            tab = context.new_page()
            where = [""]

            def report(text: str) -> None:
                line = f"{where[0]}: {text}"
                if line not in reports:
                    reports.append(line)
                    print(line, flush=True)

            tab.on("console", lambda message: report(f"console: {message.text}") if message.type in ("error", "warning") else None)
            tab.on("pageerror", lambda error: report(f"error: {error}"))
            tab.on("requestfailed", lambda request: report(f"failed: {request.url}") if "ERR_ABORTED" not in (request.failure or "") else None)
            tab.on("request", lambda request: report(f"asks another host: {request.url}") if urlsplit(request.url).scheme in ("http", "https", "ws", "wss") and urlsplit(request.url).netloc != host else None)
            tab.on("response", lambda response: report(f"{response.status}: {response.url}") if response.status >= 400 else None)
            for page in pages:
                where[0] = f"{page} ({size})"
                tab.goto(f"http://{host}/{'' if page == '.' else page + '/'}", wait_until="load")
                seen = tab.evaluate(STICKING_OUT)
                if seen["scrolls"] > 0:
                    report(f"scrolls sideways by {seen['scrolls']} pixels")
                for element in seen["found"]:
                    report(f"sticks out: {element}")
                if options.shots:
                    options.shots.mkdir(parents=True, exist_ok=True)
                    name = page.replace("/", "+") if page != "." else "home"
                    tab.screenshot(path=options.shots / f"{name}-{size}.png", full_page=True)
            if not options.pages:
                where[0] = f"search ({size})"
                tab.goto(f"http://{host}/?q=database", wait_until="load")
                try:
                    tab.wait_for_selector(".md-search-result__link", state="attached", timeout=30_000)
                except Exception:
                    report("finds nothing for: database")
            context.close()
        browser.close()
    server.shutdown()
    print(f"look_at_site: {len(pages)} pages, each at {len(SIZES)} widths: {len(reports)} reports")
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
