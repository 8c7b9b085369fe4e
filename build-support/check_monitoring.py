#!/usr/bin/env python3
"""Checks deploy/monitoring against a real server: every metric, label and fixed label value that the Grafana dashboard and
the alert rules use must be in /metrics of servers that this script starts, so that a renamed metric breaks the check.

  build-support/check_monitoring.py [--bsdb PATH] [--static] [--live]

  --bsdb PATH   the command (default: scripts/bsdb of this checkout, which must have been built)
  --static      only the form of the dashboard and the rules; start no server
  --live        also scrape the servers with Prometheus, evaluate each expression of the dashboard and the rules, and bring
                the servers into real trouble: the alerts must be silent before it and active in it. Takes two minutes

Needs PyYAML, openssl, and for --live prometheus. Runs promtool if it is installed. Exit code 1: something is wrong;
2: the check could not run.
"""

import argparse
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
MONITORING = ROOT / "deploy" / "monitoring"
DASHBOARD = MONITORING / "grafana-dashboard.json"
RULES = MONITORING / "alerts.yaml"
GUIDE = ROOT / "docs" / "guides" / "monitor.md"

# Labels that Prometheus adds to each series, and metrics that it makes itself.
TARGET_LABELS = {"job", "instance", "namespace", "pod"}
PROMETHEUS = {"up": set(), "ALERTS": {"alertname", "alertstate"}}
# Nothing is pulled, so nothing is to be shown, while the servers are healthy.
EMPTY_PANELS = {"Pull in progress"}

problems = []


def problem(text):
    problems.append(text)
    print(f"error: {text}", file=sys.stderr)


def stop(text):
    print(f"check_monitoring: {text}", file=sys.stderr)
    raise SystemExit(2)


try:
    import yaml
except ImportError:
    stop("PyYAML is missing: pip install pyyaml")


# --- expressions ---

KEYWORDS = {"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring", "group_left", "group_right", "inf", "nan"}


def used(expression):
    """Yields (metric, [(label, operator, value)]) for each selector, and (None, labels) for each list of labels."""
    text = expression
    for labels in re.findall(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)", text):
        yield None, [(label.strip(), None, None) for label in labels.split(",") if label.strip()]
    text = re.sub(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", " ", text)
    text = re.sub(r"\[[^\]]*\]", " ", text)
    text = re.sub(r"\boffset\s+-?\w+", " ", text)
    selector = re.compile(r'([a-zA-Z_:][\w:]*)\s*(\{(?:[^}"]|"[^"]*")*\}|\()?')
    for name, rest in selector.findall(text):
        if rest == "(" or name in KEYWORDS or (len(name) == 1 and not rest):
            continue
        yield name, re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"', rest)


def series_of(metrics):
    """Parses the text format: metric -> list of its labels."""
    found = {}
    for line in metrics.splitlines():
        if line and not line.startswith("#"):
            name, labels = re.match(r'([\w:]+)(\{.*\})?\s', line).groups()
            found.setdefault(name, []).append(dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")))
    return found


def check_names(where, expression, series, recorded):
    known = {label for all_series in series.values() for one in all_series for label in one} | TARGET_LABELS | {"le"}
    for metric, matchers in used(expression):
        if metric is None:
            for label, _, _ in matchers:
                if label not in known | PROMETHEUS["ALERTS"]:
                    problem(f"{where}: no metric has the label {label}")
            continue
        if metric in PROMETHEUS or metric in recorded:
            continue
        if metric not in series:
            problem(f"{where}: the servers have no metric {metric}")
            continue
        for label, operator, value in matchers:
            if label in TARGET_LABELS or value.startswith("$"):
                if label not in TARGET_LABELS and not any(label in one for one in series[metric]):
                    problem(f"{where}: {metric} has no label {label}")
                continue
            values = {one[label] for one in series[metric] if label in one}
            if not values:
                problem(f"{where}: {metric} has no label {label}")
            elif operator == "=" and value not in values:
                problem(f'{where}: no {metric} has {label}="{value}", only {sorted(values)}')
            elif operator == "=~" and label not in ("status", "code") and not any(re.fullmatch(value, v) for v in values):
                problem(f'{where}: no {metric} has {label}=~"{value}", only {sorted(values)}')


# --- the form of the files ---


def panels_of(dashboard):
    for panel in dashboard["panels"]:
        yield panel
        yield from panel.get("panels", [])


def check_dashboard(dashboard):
    """Returns (where, expression) of all queries."""
    expressions = []
    for field, kind in (("uid", str), ("title", str), ("schemaVersion", int), ("panels", list)):
        if not isinstance(dashboard.get(field), kind):
            problem(f"dashboard: {field} is missing or no {kind.__name__}")
    if dashboard.get("id") is not None:
        problem("dashboard: id belongs to one Grafana: remove it")
    variables = {v["name"]: v for v in dashboard["templating"]["list"]}
    for name in ("datasource", "job", "instance", "dataset"):
        if name not in variables:
            problem(f"dashboard: there is no variable {name}")
    for name, variable in variables.items():
        if variable["type"] == "query":
            if variable["datasource"].get("uid") != "${datasource}":
                problem(f"dashboard: the variable {name} does not use the chosen data source")
            metric = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
            if not metric or metric.group(2) != name:
                problem(f"dashboard: the variable {name} is not label_values(..., {name})")
            else:
                expressions.append((f"variable {name}", metric.group(1)))
    ids, titles, cells = set(), set(), {}
    for panel in panels_of(dashboard):
        where = f'panel "{panel.get("title")}"'
        if panel["id"] in ids or panel["title"] in titles:
            problem(f"{where}: its id or title is not unique")
        ids.add(panel["id"])
        titles.add(panel["title"])
        grid = panel["gridPos"]
        if grid["x"] < 0 or grid["x"] + grid["w"] > 24:
            problem(f"{where} is wider than the dashboard")
        for x in range(grid["x"], grid["x"] + grid["w"]):
            for y in range(grid["y"], grid["y"] + grid["h"]):
                if (x, y) in cells:
                    problem(f"{where} lies on {cells[x, y]}")
                    break
                cells[x, y] = where
        if panel["type"] == "row":
            continue
        if not panel.get("description"):
            problem(f"{where} has no description")
        refs = [target["refId"] for target in panel["targets"]]
        if not refs or len(refs) != len(set(refs)):
            problem(f"{where}: no queries, or not with unique refIds")
        for part in [panel, *panel["targets"]]:
            if part.get("datasource") != {"type": "prometheus", "uid": "${datasource}"}:
                problem(f"{where} does not use the chosen data source")
        expressions += [(where, target["expr"]) for target in panel["targets"]]
    for annotation in dashboard["annotations"]["list"]:
        if "expr" in annotation:
            expressions.append((f'annotation "{annotation["name"]}"', annotation["expr"]))
    for where, expression in expressions:
        for variable in re.findall(r"\$\{?(\w+)", expression):
            if variable not in variables and variable not in ("__rate_interval", "__range"):
                problem(f"{where}: there is no variable {variable}")
        if where.startswith("panel"):
            for metric, matchers in used(expression):
                values = {value for _, _, value in matchers}
                if metric and not {"$job", "$instance"} <= values:
                    problem(f"{where}: {metric} is not limited to the chosen job and instance")
                if metric and re.match(r"bsdb_(lookup_|io_|remote_|version_|database_)", metric) and "$dataset" not in values:
                    problem(f"{where}: {metric} is not limited to the chosen data set")
    return expressions


def anchors(page):
    lines = page.read_text().splitlines()
    return {re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in lines if line.startswith("#")}


def check_rules(rules):
    """Returns (where, expression) of all rules, and the names that they record."""
    expressions, names, recorded = [], set(), set()
    known = anchors(GUIDE) if GUIDE.exists() else None
    if known is None:
        problem(f"{GUIDE.relative_to(ROOT)} is missing, to which the alerts refer")
    for rule in [rule for group in rules["groups"] for rule in group["rules"]]:
        name = rule.get("alert") or rule["record"]
        if name in names:
            problem(f"{name} is not unique")
        names.add(name)
        expressions.append((name, rule["expr"]))
        if "record" in rule:
            recorded.add(name)
            continue
        if rule.get("labels", {}).get("severity") not in ("critical", "warning"):
            problem(f"{name}: severity is neither critical nor warning")
        if not rule.get("annotations", {}).get("summary"):
            problem(f"{name} has no summary")
        page, _, anchor = rule.get("annotations", {}).get("runbook", "").partition("#")
        if page != "docs/guides/monitor.md" or (known is not None and anchor not in known):
            problem(f"{name}: its runbook {page}#{anchor} does not exist")
    tests = "".join(path.read_text() for path in sorted(MONITORING.glob("*_test.yaml")))
    for name in names - recorded:
        if f'alertname="{name}"' not in tests:
            problem(f"{name} has no test in {MONITORING.relative_to(ROOT)}/*_test.yaml")
    return expressions, recorded


def promtool():
    if not shutil.which("promtool"):
        print("promtool is not installed: the rules and their tests were not run")
        return
    for command in (["check", "rules", str(RULES)], ["test", "rules", *map(str, sorted(MONITORING.glob("*_test.yaml")))]):
        done = subprocess.run(["promtool", *command], capture_output=True, text=True)
        if done.returncode:
            problem(f"promtool {' '.join(command)}:\n{done.stdout}{done.stderr}")
    # Some builds of Prometheus, such as Debian's, lack the discovery of Kubernetes: its configuration is left out.
    configuration = yaml.safe_load((ROOT / "deploy" / "prometheus.yml").read_text())
    for job in configuration["scrape_configs"]:
        job.pop("kubernetes_sd_configs", None)
    with tempfile.TemporaryDirectory() as scratch:
        copy = pathlib.Path(scratch) / "prometheus.yml"
        copy.write_text(yaml.safe_dump(configuration))
        (copy.parent / "alerts.yaml").write_text(RULES.read_text())
        done = subprocess.run(["promtool", "check", "config", str(copy)], capture_output=True, text=True)
        if done.returncode:
            problem(f"promtool check config deploy/prometheus.yml:\n{done.stdout}{done.stderr}")


# --- servers ---


class RangeHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files, with ranges, as a data set elsewhere needs."""

    protocol_version = "HTTP/1.1"

    def do_GET(self, body=True):
        try:
            content = pathlib.Path(self.translate_path(self.path)).read_bytes()
        except OSError:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        size, first, last = len(content), 0, len(content) - 1
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked:
            first, last = int(asked[1]), min(int(asked[2] or last), last)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        else:
            self.send_response(200)
        self.send_header("ETag", f'"{hash(content)}"')
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(last - first + 1))
        self.end_headers()
        if body:
            self.wfile.write(content[first : last + 1])

    def do_HEAD(self):
        self.do_GET(body=False)

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(url, data=None, token=None, context=None):
    """Returns the status and the text of the answer."""
    request = urllib.request.Request(url, data=data, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=30, context=context) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


class Servers:
    """One server with all that a single data set can have, and one with two data sets, one of them elsewhere."""

    def __init__(self, bsdb, directory):
        self.bsdb, self.directory, self.processes = str(bsdb), directory, {}
        self.ports = {name: free_port() for name in ("http", "resp", "admin", "sets", "sets-admin", "files")}
        self.token = "0123456789abcdef0123456789abcdef"

    def run(self, *command):
        done = subprocess.run(command, cwd=self.directory, capture_output=True, text=True)
        if done.returncode:
            stop(f"{' '.join(command)}: {done.stdout}{done.stderr}")

    def certificate(self, days):
        self.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "tls.key", "-out", "tls.crt",
                 "-days", str(days), "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1")  # fmt: skip

    def start(self):
        here = self.directory
        (here / "input.txt").write_text("apple a fruit\ncarrot a root\nplum a stone fruit\n")
        self.run(self.bsdb, "build", "-q", "-i", "input.txt", "-o", "rdb")
        self.run(self.bsdb, "push", "./rdb", "./distant", "--version", "monday")
        self.run(self.bsdb, "publish", "-q", "./rdb", "./items", "--version", "monday")
        self.certificate(90)
        (here / "tokens").write_text(self.token + "\n")
        node = {"name": "a", "host": "127.0.0.1", "resp": self.ports["resp"], "http": self.ports["http"], "slots": "0-16383"}
        (here / "topology.json").write_text(json.dumps({"nodes": [node]}))
        handler = lambda *arguments: RangeHandler(*arguments, directory=str(here))
        self.files = http.server.ThreadingHTTPServer(("127.0.0.1", self.ports["files"]), handler)
        threading.Thread(target=self.files.serve_forever, daemon=True).start()
        port = lambda name: str(self.ports[name])
        self.serve("one", "-d", "./store", "--follow", "./distant", "--follow-interval", "2", "--resp", port("resp"), "-p", port("http"),
                   "--admin-port", port("admin"), "--tls-cert", "tls.crt", "--tls-key", "tls.key", "--token-file", "tokens",
                   "--access-log", "access.log", "--cluster", "topology.json", "--node", "a")  # fmt: skip
        self.serve("sets", "-d", f"users=http://127.0.0.1:{port('files')}/rdb", "-d", "items=./items", "-p", port("sets"),
                   "--admin-port", port("sets-admin"))  # fmt: skip
        for name, admin in (("one", "admin"), ("sets", "sets-admin")):
            self.wait(name, admin)

    def serve(self, name, *options):
        with open(self.directory / f"{name}.log", "w") as log:
            environment = dict(os.environ, BSDB_JAVA_OPTS="-Xmx128m")
            command = [self.bsdb, "serve", "-A", "127.0.0.1", *options]
            self.processes[name] = subprocess.Popen(command, cwd=self.directory, stderr=log, stdout=log, env=environment)

    def wait(self, name, admin):
        for _ in range(600):
            if self.processes[name].poll() is not None:
                break
            try:
                if get(f"http://127.0.0.1:{self.ports[admin]}/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.2)
        stop(f"the server {name} does not start: {(self.directory / f'{name}.log').read_text()}")

    def traffic(self):
        context = ssl._create_unverified_context()
        base = f"https://127.0.0.1:{self.ports['http']}/bsdb/"
        expected = [(base + "apple", self.token, 200), (base + "nut", self.token, 404), (base + "apple", None, 401)]
        base = f"http://127.0.0.1:{self.ports['sets']}/bsdb/"
        expected += [(base + "users/apple", None, 200), (base + "items/apple", None, 200), (base + "items/nut", None, 404)]
        for url, token, status in expected:
            answered = get(url, token=token, context=context)[0]
            if answered != status:
                stop(f"{url} was answered {answered} instead of {status}")
        with socket.create_connection(("127.0.0.1", self.ports["resp"]), timeout=30) as plain, context.wrap_socket(plain) as client:
            replies = client.makefile("rb")
            for command, reply in (("GET apple", b"-NOAUTH"), (f"AUTH {self.token}", b"+OK"), ("GET apple", b"$7")):
                client.sendall(command.encode() + b"\r\n")
                line = replies.readline()
                if not line.startswith(reply):
                    stop(f"Redis: {command} was answered {line}")

    def go_on(self):
        """Makes a little of each kind of traffic."""
        try:
            context = ssl._create_unverified_context()
            get(f"https://127.0.0.1:{self.ports['http']}/bsdb/apple", token=self.token, context=context)
            for path in ("users/apple", "items/apple", "items/nut"):
                get(f"http://127.0.0.1:{self.ports['sets']}/bsdb/{path}")
            with socket.create_connection(("127.0.0.1", self.ports["resp"]), timeout=30) as plain, context.wrap_socket(plain) as client:
                client.sendall(f"AUTH {self.token}\r\nGET apple\r\nBEYOND\r\n".encode())
                replies = client.makefile("rb")
                for _ in range(3):
                    replies.readline()
        except OSError as e:
            stop(f"traffic: {e}")

    def moved(self):
        """Gives half of the slots to another node, so that the servers answer MOVED."""
        nodes = [{"name": name, "host": host, "resp": self.ports["resp"], "http": self.ports["http"], "slots": slots}
                 for name, host, slots in (("a", "127.0.0.1", "0-99"), ("b", "127.0.0.2", "100-16383"))]  # fmt: skip
        (self.directory / "topology.json").write_text(json.dumps({"nodes": nodes}))
        context = ssl._create_unverified_context()
        for _ in range(100):
            with socket.create_connection(("127.0.0.1", self.ports["resp"]), timeout=30) as plain, context.wrap_socket(plain) as client:
                client.sendall(f"AUTH {self.token}\r\nGET apple\r\n".encode())
                replies = client.makefile("rb")
                replies.readline()
                if replies.readline().startswith(b"-MOVED"):
                    return
            time.sleep(0.5)
        stop(f"no MOVED for a slot of another node: {(self.directory / 'one.log').read_text()}")

    def admin(self, name, path):
        return get(f"http://127.0.0.1:{self.ports[name]}{path}", data=b"")

    def scrape(self):
        return "".join(get(f"http://127.0.0.1:{self.ports[name]}/metrics")[1] for name in ("admin", "sets-admin"))

    def close(self):
        for process in self.processes.values():
            process.kill()
            process.wait()
        if hasattr(self, "files"):
            self.files.shutdown()


# --- Prometheus ---


class Prometheus:
    def __init__(self, servers, directory):
        self.port = free_port()
        targets = {"bsdb-one": servers.ports["admin"], "bsdb-sets": servers.ports["sets-admin"]}
        configuration = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(RULES)],
            "scrape_configs": [
                {"job_name": job, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]} for job, port in targets.items()
            ],
        }
        (directory / "prometheus.yml").write_text(yaml.safe_dump(configuration))
        command = ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb", f"--web.listen-address=127.0.0.1:{self.port}"]
        log = open(directory / "prometheus.log", "w")
        self.process = subprocess.Popen(command, cwd=directory, stdout=log, stderr=log)

    def query(self, expression):
        """Returns the series, or stops with what Prometheus says."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        status, text = get(url)
        answer = json.loads(text)
        if answer["status"] != "success":
            problem(f"Prometheus refuses {expression}: {answer.get('error')}")
            return []
        return answer["data"]["result"]

    def active(self):
        return {one["metric"]["alertname"] for one in self.query("ALERTS")}

    def faulty_texts(self):
        """Returns the texts of active alerts that could not be made."""
        alerts = json.loads(get(f"http://127.0.0.1:{self.port}/api/v1/alerts")[1])["data"]["alerts"]
        return [text for alert in alerts for text in alert["annotations"].values() if "<error" in text or "<no value>" in text]

    def wait(self, wanted, seconds=90):
        """Waits until these alerts are active, and returns those that are not."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not wanted <= (active := self.active()):
            time.sleep(1)
        return wanted - active

    def close(self):
        self.process.terminate()
        self.process.wait()


def live(servers, directory, dashboard, expressions):
    if not shutil.which("prometheus"):
        stop("prometheus is not installed, which --live needs")
    prometheus = Prometheus(servers, directory)
    try:
        for second in range(100):
            time.sleep(1)
            servers.go_on()
            try:
                if second >= 20 and len(prometheus.query("bsdb_version_swaps_total offset 16s")) == 3:
                    break
            except OSError:
                pass  # it starts
        else:
            stop(f"Prometheus has not scraped both servers: {(directory / 'prometheus.log').read_text()}")
        for where, expression in expressions:
            filled = expression.replace("$__rate_interval", "15s").replace("$__range", "1h")
            filled = re.sub(r"\$(job|instance|dataset)\b", ".*", filled)
            if not prometheus.query(filled) and where.startswith(("panel", "variable")):
                if not any(where == f'panel "{title}"' for title in EMPTY_PANELS):
                    problem(f"{where}: no series for {filled}")
        print(f"{len(expressions)} expressions were evaluated by Prometheus")
        if prometheus.active():
            problem(f"alerts of healthy servers: {sorted(prometheus.active())}")
        stage(servers, directory, prometheus)
    finally:
        prometheus.close()


def stage(servers, directory, prometheus):
    """Real trouble, one after another; each must make its alerts active, as pending or firing."""

    def expect(what, *alerts):
        missing = prometheus.wait(set(alerts))
        print(f"staged: {what}: {', '.join(alerts)}{' MISSING ' + str(missing) if missing else ''}")
        if missing:
            problem(f"{what}: {sorted(missing)} not active")
        for text in prometheus.faulty_texts():
            problem(f"{what}: the alert says {text}")

    (directory / "topology.json").write_text("{")
    expect("a damaged topology", "BsdbTopologyRefused")
    servers.certificate(1)
    servers.processes["one"].send_signal(signal.SIGHUP)
    expect("a certificate for one day", "BsdbCertificateExpires", "BsdbCertificateExpiresSoon")
    (directory / "tokens").write_text("\n")
    servers.processes["one"].send_signal(signal.SIGHUP)
    expect("an empty token file", "BsdbReloadRefused")
    # The server finds the damage in what arrives, and goes on with what it has.
    (directory / "few.txt").write_text("another key\n")
    servers.run(servers.bsdb, "build", "-q", "-i", "few.txt", "-o", "few")
    servers.run(servers.bsdb, "push", "./few", "./distant", "--version", "tuesday")
    damaged = [path for path in (directory / "distant" / "tuesday").rglob("*") if path.is_file() and "manifest" not in path.name]
    for path in damaged:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 255
        path.write_bytes(content)
    servers.admin("admin", "/follow")
    expect("a damaged version at the source", "BsdbBehindSource")
    (directory / "distant").rename(directory / "gone")
    for _ in range(3):
        servers.admin("admin", "/follow")
        time.sleep(3)
    expect("an unreadable source", "BsdbFollowFails")
    servers.run("cp", "-r", "items/monday", "items/tuesday")
    for path in (directory / "items" / "tuesday").iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    (directory / "items" / "CURRENT").write_text((directory / "items" / "CURRENT").read_text().replace("monday", "tuesday"))
    expect("a truncated version", "BsdbVersionRefused")
    servers.admin("admin", "/drain")
    expect("a server that drains", "BsdbStillDraining")
    servers.processes["sets"].kill()
    expect("a server that is killed", "BsdbDown")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("--bsdb", type=pathlib.Path, default=ROOT / "scripts" / "bsdb", help=argparse.SUPPRESS)
    parser.add_argument("--static", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--live", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    dashboard = json.loads(DASHBOARD.read_text())
    queries = check_dashboard(dashboard)
    rules, recorded = check_rules(yaml.safe_load(RULES.read_text()))
    promtool()
    if not options.static:
        if not shutil.which("openssl"):
            stop("openssl is missing")
        with tempfile.TemporaryDirectory(prefix="bsdb-monitoring.") as scratch:
            directory = pathlib.Path(scratch)
            servers = Servers(options.bsdb.resolve(), directory)
            try:
                servers.start()
                servers.traffic()
                servers.moved()
                series = series_of(servers.scrape())
                for where, expression in queries + rules:
                    check_names(where, expression, series, recorded)
                names = {name for _, e in queries for name, _ in used(e) if name}
                unused = sorted(name for name in series if name.startswith("bsdb_") and name not in names
                                and not re.search(r"_(count|sum)$", name))  # fmt: skip
                if unused:
                    problem(f"the dashboard does not show {', '.join(unused)}")
                if options.live:
                    live(servers, directory, dashboard, queries + rules)
            finally:
                servers.close()
    print(f"{len(queries)} queries, {len(rules)} rules: " + (f"{len(problems)} problems" if problems else "ok"))
    raise SystemExit(1 if problems else 0)


if __name__ == "__main__":
    main()
