"""A Jupyter kernel that several tests use: importing a framework takes longer than what they do in it."""

from jupyter_client.manager import start_new_kernel
from runs import WAIT


class SharedKernel:
    """Starts a kernel when a test needs one and none is alive."""

    def __init__(self):
        self.manager = self.client = None

    def start(self):
        """The client of a kernel that is alive."""
        if self.manager is None or not self.manager.is_alive():
            self.end()
            self.manager, self.client = start_new_kernel(kernel_name="python3", startup_timeout=WAIT)
        return self.client

    def run(self, source: str) -> str:
        """What a cell prints to its standard output."""
        printed = []

        def keep(message):
            if message["msg_type"] == "stream" and message["content"]["name"] == "stdout":
                printed.append(message["content"]["text"])

        reply = self.start().execute_interactive(source, output_hook=keep, timeout=WAIT)
        assert reply["content"]["status"] == "ok", reply["content"]
        return "".join(printed)

    def kill_when_printed(self, source: str, text: str) -> None:
        """Execute a cell, and kill the kernel's process as soon as the cell prints this."""
        client = self.start()
        client.execute(source)
        while (message := client.get_iopub_msg(timeout=WAIT))["content"].get("text") != text:
            assert message["msg_type"] != "error", message["content"]
        self.end()

    def end(self) -> None:
        """Kill the kernel's process."""
        if self.manager is not None:
            self.client.stop_channels()
            self.manager.shutdown_kernel(now=True)
            self.manager = self.client = None
