"""Routes that build or compare models without files."""

from jupyter_server.auth.decorator import authorized
from tornado import web

from labdl.lab.editor import comparison, zoo
from labdl.lab.messages.editor import Difference, DiffRequest, ZooAnswer, ZooRequest
from labdl.lab.server.base_handler import LabDLHandler


class ZooHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        self.answer(ZooAnswer, await self.compute(zoo.models_list))


class ZooModelHandler(LabDLHandler):
    """The graph of a model of the zoo by its name; the page saves it."""

    @web.authenticated
    @authorized("read")
    async def post(self):
        asked = self.request_body(ZooRequest)
        self.send_json(await self.compute(zoo.graph, asked.name, asked.settings or {}))


class DiffHandler(LabDLHandler):
    @web.authenticated
    @authorized("read")
    async def post(self):
        asked = self.request_body(DiffRequest)
        self.answer(Difference, await self.compute(comparison.difference, asked.old, asked.new))
