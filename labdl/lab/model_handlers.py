"""Routes that make or compare models without touching a file."""

from jupyter_server.auth.decorator import authorized
from tornado import web

from labdl.lab import comparing, zoo
from labdl.lab.handlers import LabDLHandler


class ZooHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        self.answer(await self.compute(zoo.listed))


class ZooModelHandler(LabDLHandler):
    """The graph of a model by its name; where it is kept is the page's business."""

    @web.authenticated
    @authorized("read")
    async def post(self):
        content = self.body()
        settings = self.field(content, "settings", dict) if content.get("settings") is not None else {}
        self.answer(await self.compute(zoo.graph, self.field(content, "name"), settings))


class DiffHandler(LabDLHandler):
    @web.authenticated
    @authorized("read")
    async def post(self):
        content = self.body()
        graphs = [self.field(content, name, dict) for name in ("old", "new")]
        self.answer(await self.compute(comparing.difference, *graphs))
