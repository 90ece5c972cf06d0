"""A server on this machine with the files of known data sets."""

import hashlib
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from labdl.data.sources import SETS, KnownSet, RemoteFile


class Server:
    """Serves ``files``, to be loaded into ``folder``; ``broken`` names those of which the first answer ends early."""

    def __init__(self, folder):
        self.folder = folder
        self.files: dict[str, bytes] = {}
        self.broken: dict[str, int] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.tags = True
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                name, asked = self.path.lstrip("/"), self.headers.get("Range")
                outer.requests.append((name, asked))
                if name not in outer.files:
                    return self.send_error(404)
                body, start = outer.files[name], 0
                tag = f'"{hashlib.md5(body).hexdigest()}"'
                if asked and self.headers.get("If-Range", tag) == tag:
                    start = int(asked.removeprefix("bytes=").removesuffix("-"))
                    if start >= len(body):
                        return self.send_error(416)
                self.send_response(206 if start else 200)
                if start:
                    self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
                self.send_header("Content-Length", str(len(body) - start))
                if outer.tags:
                    self.send_header("ETag", tag)
                self.end_headers()
                self.wfile.write(body[start : outer.broken.pop(name, len(body))])

            def log_message(self, *values):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def entry(self, name: str, contents: dict[str, bytes]) -> KnownSet:
        """The entry of the table with these files on the server, and their hashes."""
        self.files |= contents

        def local(file: RemoteFile) -> RemoteFile:
            digest = hashlib.sha256(contents[file.name]).hexdigest() if file.name in contents else None
            return replace(file, urls=(self.address + file.name,), hash=digest and f"sha256:{digest}", size=None)

        return replace(SETS[name], files={s: tuple(map(local, files)) for s, files in SETS[name].files.items()})
