"""A server on this machine that answers as the Hugging Face Hub does, to the requests of the library huggingface_hub."""

import hashlib
import json
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class HubServer:
    """Serves ``repositories``: name to revision to file name to bytes. ``closed`` ones want a login, ``gated`` conditions.

    A redirection from an earlier name is an entry of ``renamed``. Of files in ``stored``, by repository and name, the bytes
    that are sent, which differ from those that the lists tell of. ``requests`` are the methods and paths of all requests.
    """

    def __init__(self):
        self.repositories: dict[str, dict[str, dict[str, bytes]]] = defaultdict(lambda: defaultdict(dict))
        self.closed: set[str] = set()
        self.gated: set[str] = set()
        self.renamed: dict[str, str] = {}
        self.stored: dict[tuple[str, str], bytes] = {}
        self.requests: list[tuple[str, str]] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self}))
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def put(self, repository: str, name: str, content: bytes, revision: str = "main") -> None:
        self.repositories[repository][revision][name] = content

    @property
    def downloads(self) -> list[str]:
        """The names of the files whose bytes were sent."""
        return [
            path.partition("/resolve/")[2].partition("/")[2]
            for method, path in self.requests
            if method == "GET" and "/resolve/" in path
        ]

    def stop(self) -> None:
        if not self.thread.is_alive():
            return
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def direct(self, monkeypatch, cache) -> None:
        """Let huggingface_hub, which reads its address when it is imported, ask this server; its cache is a folder."""
        point_hub_at(monkeypatch, self.address, cache)


def point_hub_at(monkeypatch, address: str, cache) -> None:
    """Give huggingface_hub another address of the Hub and another cache."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")


class _Handler(BaseHTTPRequestHandler):
    hub: HubServer

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.answer()

    def answer(self):
        self.hub.requests.append((self.command, self.path))
        path = self.path.partition("?")[0].strip("/")
        is_list = path.startswith("api/models/")
        words = path.removeprefix("api/models/").split("/")
        repository = "/".join(words[:2])
        if repository in self.hub.renamed:
            other = self.path.replace(repository, self.hub.renamed[repository])
            return self.send(307, b"", {"Location": other})
        if repository in self.hub.closed:
            return self.send(401, b"{}", {"X-Error-Code": "RepoNotFound"})
        if repository in self.hub.gated:
            return self.send(403, b"{}", {"X-Error-Code": "GatedRepo"})
        if repository not in self.hub.repositories:
            return self.send(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        revisions = self.hub.repositories[repository]
        revision = words[3] if len(words) > 3 else "main"
        revision = next((name for name in revisions if revision in (name, _commit(name))), None)
        if revision is None:
            return self.send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        files, commit = revisions[revision], _commit(revision)
        if is_list:
            return self.send(
                200,
                json.dumps(_listing(repository, commit, files, words[2:3] == ["tree"])).encode(),
                {"Content-Type": "application/json"},
            )
        name = "/".join(words[4:])
        if name not in files:
            return self.send(404, b"{}", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit})
        digest = hashlib.sha256(files[name]).hexdigest()
        content = self.hub.stored.get((repository, name), files[name])
        return self.send(200, content, {"ETag": f'"{digest}"', "X-Repo-Commit": commit})

    def send(self, code: int, data: bytes, headers: dict[str, str]):
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, *values):
        pass


def _commit(revision: str) -> str:
    return hashlib.sha1(revision.encode()).hexdigest()


def _listing(repository: str, commit: str, files: dict[str, bytes], tree: bool):
    """What the Hub tells of a repository: with sizes and hashes of large files, which here all are."""
    facts = {
        name: {
            "size": len(data),
            "lfs": {
                "size": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
                "oid": hashlib.sha256(data).hexdigest(),
                "pointerSize": 100,
            },
        }
        for name, data in files.items()
    }
    if tree:
        return [{"type": "file", "path": name, "oid": "0" * 40, **fact} for name, fact in facts.items()]
    siblings = [{"rfilename": name, **fact} for name, fact in facts.items()]
    return {"id": repository, "sha": commit, "siblings": siblings, "private": False, "tags": []}
