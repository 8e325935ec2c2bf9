"""A rented agent as a tool, without a framework."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from .._flows import Input, Json, RunTerms
from ..async_client import AsyncClient
from ..client import Client
from ..errors import AgentRentalError, ConnectionFailedError
from ..generated.api.runs import list_tools
from ..generated.models import Run, ToolFormat, ToolPage
from ..generated.models.run_status import RunStatus

_MOST_TOOLS = 30
"""The most recently used rentals: more would fill a model's context."""
_LISTED: Any = {"format_": ToolFormat.JSON_SCHEMA, "limit": _MOST_TOOLS}
_MOST_CHARACTERS = 40_000
_MARK = "[marketplace]"
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
"""Characters that people do not see, and models read."""


@dataclass(frozen=True)
class ToolResult:
    """The result of a call, for a model."""

    text: str
    is_error: bool
    run: Run | None = None


@dataclass(frozen=True)
class RentedTool:
    """A rented agent, with the name, description and schema that the marketplace has made for models."""

    name: str
    description: str
    schema: dict[str, Json]
    """A JSON Schema of the arguments: ``agent_id``, ``task``, ``input`` and ``input_uri``."""
    agent_id: str
    client: AsyncClient | None
    _scope: str = field(default_factory=lambda: str(uuid.uuid4()), repr=False)

    async def stream(
        self, arguments: Mapping[str, Json], call_id: str | None = None
    ) -> AsyncGenerator[str | ToolResult, None]:
        """Runs the agent; yields its output in pieces, then the result. Errors are results, so that a model reads them.

        Closing it, or cancelling its coroutine, cancels the run.

        :param call_id: the framework's id of the call: a repeated call is the same run, paid once
        """
        prepared = self._prepared(arguments, call_id)
        if isinstance(prepared, ToolResult):
            yield prepared
            return
        task, given, terms = prepared
        try:
            assert self.client is not None
            async with aclosing(self.client.stream(self.agent_id, task, given, **terms)) as pieces:
                async for piece in pieces:
                    yield _result_of(piece) if isinstance(piece, Run) else piece
        except AgentRentalError as error:
            yield _result_of_error(error)

    async def call(self, arguments: Mapping[str, Json], call_id: str | None = None) -> ToolResult:
        """Runs the agent, and waits for its result."""
        async with aclosing(self.stream(arguments, call_id)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ToolResult):
                    return piece
        raise AssertionError("A stream ends with its result.")

    def call_blocking(self, client: Client, arguments: Mapping[str, Json], call_id: str | None = None) -> ToolResult:
        """As :meth:`call`, in a thread, by a client for threads."""
        prepared = self._prepared(arguments, call_id)
        if isinstance(prepared, ToolResult):
            return prepared
        task, given, terms = prepared
        try:
            return _result_of(client.run(self.agent_id, task, given, **terms))
        except AgentRentalError as error:
            return _result_of_error(error)

    def _prepared(self, arguments: Mapping[str, Json], call_id: str | None) -> tuple[str, Input, RunTerms] | ToolResult:
        """Task, input and terms of the arguments of a model."""
        task, given, uri = arguments.get("task"), arguments.get("input"), arguments.get("input_uri")
        if not isinstance(task, str) or not (given is None or isinstance(given, str | Mapping)):
            return ToolResult(f"{_MARK} Nothing was charged. Send a task as text, and an input of the schema.", True)
        terms: RunTerms = {}
        if isinstance(uri, str):
            terms["input_uri"] = uri
        if call_id is not None:
            call = json.dumps([self._scope, call_id, self.agent_id, dict(arguments)], sort_keys=True)
            terms["idempotency_key"] = hashlib.sha256(call.encode()).hexdigest()
        return task, given, terms


async def rented_tools(client: AsyncClient) -> list[RentedTool]:
    """A client's rented agents as tools, the most recently used first, at most 30.

    :raises ApiError, ConnectionFailedError: if the rentals cannot be listed
    """
    return _tools_of(await list_tools.asyncio(client=client.api, **_LISTED), client)


def rented_tools_blocking(client: Client) -> list[RentedTool]:
    """As :func:`rented_tools`, by a client for threads. Their results come from :meth:`RentedTool.call_blocking`."""
    return _tools_of(list_tools.sync(client=client.api, **_LISTED), None)


def _tools_of(page: ToolPage | None, client: AsyncClient | None) -> list[RentedTool]:
    try:
        if page is None:
            raise ValueError
        return [_tool_of(tool.to_dict(), client) for tool in page.tools]
    except (KeyError, ValueError, TypeError, IndexError):
        raise ConnectionFailedError("The list of tools could not be read.") from None


def _tool_of(definition: dict[str, Json], client: AsyncClient | None) -> RentedTool:
    schema = {name: value for name, value in definition.items() if name not in ("title", "description")}
    agent_id = schema["properties"]["agent_id"]["enum"][0]
    return RentedTool(definition["title"], definition["description"], schema, agent_id, client)


def _result_of_error(error: AgentRentalError) -> ToolResult:
    reason = str(getattr(error, "reason", error.message))
    return ToolResult(f"{_MARK} {error.code}: {_shown(reason)} {error.next_step}", True)


def _result_of(run: Run) -> ToolResult:
    output = run.output if isinstance(run.output, str) else json.dumps(run.output, ensure_ascii=False)
    text = _shown(output)
    charge = f"Charged {run.cost_lamports} lamports." if run.cost_lamports else "Charged nothing."
    if run.status == RunStatus.FAILED:
        again = " Calling again charges again." if run.cost_lamports else ""
        words = f"{_MARK} Run {run.run_id} failed: the agent could not do the task. {charge}{again}"
        return ToolResult(f"{words} The agent's own words:\n{text or '(none)'}", True, run)
    return ToolResult(f"{text}\n{_MARK} Run {run.run_id} completed. {charge}", False, run)


def _shown(text: str) -> str:
    """A stranger's text for a model: bounded, without hidden characters."""
    cleaned = _HIDDEN.sub("", text)
    return cleaned if len(cleaned) <= _MOST_CHARACTERS else f"{cleaned[:_MOST_CHARACTERS]}\n{_MARK} It was cut here."
