"""A proxy in front of an S3 server that counts requests and can cut connections."""

import re
import socket
import threading


class Proxy:
    """Forwards connections and cuts the next `cuts` of them after `after` bytes of an answer."""

    def __init__(self, port):
        self.target = port
        self.cuts = 0
        self.after = 2_000
        self.done = 0
        self.requests = []  # (method, target, value of the header Range or None)
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.target))
            threading.Thread(target=self.copy, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self.copy, args=(server, client, True), daemon=True).start()

    def copy(self, source, target, answers):
        passed = 0
        head = b""
        try:
            while piece := source.recv(4096):
                passed += len(piece)
                if answers and passed > self.after and self.cut():
                    break
                if not answers:
                    head = self.count(head + piece)
                target.sendall(piece)
        except OSError:
            pass  # the other direction ended
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is already shut down
            end.close()

    def count(self, received):
        """Counts the requests whose heads are complete; returns the rest."""
        *heads, rest = received.split(b"\r\n\r\n")
        for head in heads:
            line = re.search(rb"(?:^|\n)([A-Z]+) (\S+) HTTP/1\.1\r\n", head + b"\r\n")
            if line:  # otherwise it is a body
                asked = re.search(rb"(?im)^range: *(\S+)", head)
                with self.lock:
                    self.requests.append((line[1].decode(), line[2].decode(), asked[1].decode() if asked else None))
        return rest[-65_536:]

    def cut(self):
        with self.lock:
            if self.cuts == 0:
                return False
            self.cuts -= 1
            self.done += 1
            return True

    def taken(self):
        """The requests since the last call."""
        with self.lock:
            requests, self.requests = self.requests, []
            return requests
