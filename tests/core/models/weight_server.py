"""A server of files on this machine that answers as the Hugging Face Hub does: the hash of a file in the head."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class WeightServer:
    """Serves ``files`` by path; ``large`` are redirected to a store, and have their SHA-256 in the head."""

    def __init__(self):
        self.files: dict[str, bytes] = {}
        self.large: set[str] = set()
        self.moved: dict[str, str] = {}
        self.closed: set[str] = set()
        self.requests: list[tuple[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self):
                self.answer(head=True)

            def do_GET(self):
                self.answer(head=False)

            def answer(self, head: bool):
                outer.requests.append((self.command, self.path))
                path = self.path
                if path in outer.moved:
                    return self.redirect(307, outer.moved[path])
                if path in outer.closed:
                    return self.send_error(401)
                name = path.removeprefix("/store")
                if name not in outer.files:
                    return self.send_error(404)
                body = outer.files[name]
                if name in outer.large and path == name:
                    digest = hashlib.sha256(body).hexdigest()
                    link = {"X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(len(body))}
                    return self.redirect(302, f"{outer.address}/store{name}", link)
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if not head:
                    self.wfile.write(body)

            def redirect(self, code: int, location: str, headers: dict[str, str] | None = None):
                self.send_response(code)
                for key, value in {"Location": location, "Content-Length": "0", **(headers or {})}.items():
                    self.send_header(key, value)
                self.end_headers()

            def log_message(self, *values):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
