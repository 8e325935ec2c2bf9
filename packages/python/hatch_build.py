"""Makes the generated part at the package's build: models and methods of the API, and the parts for threads."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

IN_OTHER_WORDS = [
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r'``hatch_build.py`` makes the [^"]*"""', 'This one is for threads, and made from the one for coroutines."""'),
    (r"\b_async_transport\b", "_transport"),
    (r"\bhandle_async_request\b", "handle_request"),
    (r"\banyio\b", "time"),
    (r"AsyncGenerator\[(.*), None\]", r"Generator[\1, None, None]"),
    (r"\bAsync(Client|Transport|BaseTransport|HTTPTransport|Generator|Iterator)\b", r"\1"),
    (r"\basyncio_detailed\b", "sync_detailed"),
    (r"\b(set_)async_(httpx_client)\b", r"\1\2"),
    (r"\b(shielded)\b", r"un\1"),
    (r"\basync(contextmanager)\b", r"\1"),
    (r"\ba(iter_sse|close|next|read)\b", r"\1"),
    (r"__a(enter|exit)__", r"__\1__"),
]
"""A part for threads is the one for coroutines in other words."""
FOR_THREADS = {"async_client.py": "client.py", "_async_transport.py": "_transport.py"}


class GeneratedPart(BuildHookInterface[Any]):
    """Does nothing in a source distribution: that has the generated part, and no ``openapi.json``."""

    PLUGIN_NAME = "custom"

    @property
    def _document(self) -> Path:
        return Path(self.root) / "openapi.json"

    def dependencies(self) -> list[str]:
        """The generator, where it is needed."""
        return ["openapi-python-client==0.29.1"] if self._document.exists() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Runs before the files are collected."""
        if not self._document.exists():
            return
        package = Path(self.root) / "src" / "agent_rental"
        generate = [sys.executable, "-m", "openapi_python_client", "generate", "--meta=none", "--overwrite"]
        paths = [f"--path={self._document}", f"--output-path={package / 'generated'}"]
        # The generator calls ruff, which is beside the interpreter.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        subprocess.run([*generate, "--fail-on-warning", *paths], check=True, env={**os.environ, "PATH": path})
        for source, made in FOR_THREADS.items():
            text = (package / source).read_text("utf-8")
            for pattern, words in IN_OTHER_WORDS:
                text = re.sub(pattern, words, text)
            (package / made).write_text(text, "utf-8")
