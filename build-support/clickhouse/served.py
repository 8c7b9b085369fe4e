"""Databases that are served to Redis clients, and ClickHouse, which reads them; for check.py and compare.py."""

import contextlib
import os
import re
import subprocess
import tempfile

from chdb import session

BSDB = os.environ["BSDB"]


def bsdb(*words):
    """Runs a command of bsdb."""
    subprocess.run([BSDB, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def serving(folder, *options, port=0):
    """Serves a database or a folder of stores; gives the port for Redis clients."""
    with tempfile.NamedTemporaryFile("w+", suffix=".log") as log:
        line = [BSDB, "serve", "-d", str(folder), "-A", "127.0.0.1", "-p", "0", "--resp", str(port), *map(str, options)]
        server = subprocess.Popen(line, stderr=log)
        try:
            while not (found := re.search(r" on redis://127\.0\.0\.1:(\d+)", text(log.name))):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    raise SystemExit(f"the server ended with {server.wait(0.1)}: {text(log.name)}")
            yield int(found[1])
        finally:
            server.terminate()
            server.wait()


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class ClickHouse:
    """A ClickHouse within this process, with a database of dictionaries."""

    def __init__(self, folder):
        self.session = session.Session(str(folder))
        self.query("CREATE DATABASE IF NOT EXISTS d ENGINE = Atomic")

    def query(self, sql):
        """Returns the rows as lists of strings."""
        lines = str(self.session.query(sql, "TabSeparated")).split("\n")[:-1]
        return [line.split("\t") for line in lines]

    def row(self, sql):
        """Returns the only row."""
        (row,) = self.query(sql)
        return row

    def error(self, sql):
        """Returns the message with which a query fails; an empty one if it does not."""
        try:
            self.query(sql)
        except Exception as e:
            return str(e)
        return ""

    def dictionary(self, name, port, layout, *, key="k String", value="v String DEFAULT 'absent'", data_set=0, lifetime="0", more=""):
        """Creates a dictionary, with two keys for hashes."""
        names = [each.split()[0] for each in key.split(", ")]
        storage = "hash_map" if len(names) == 2 else "simple"
        source = f"REDIS(host '127.0.0.1' port {port} storage_type '{storage}' db_index {data_set} {more})"
        ending = "" if "DIRECT" in layout else f"LIFETIME({lifetime})"
        columns = f"({key}, {value}) PRIMARY KEY {', '.join(names)}"
        self.query(f"CREATE OR REPLACE DICTIONARY d.{name} {columns} SOURCE({source}) LAYOUT({layout}) {ending}")
