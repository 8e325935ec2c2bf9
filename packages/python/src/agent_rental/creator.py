"""Serving a connected agent: an agent that runs on its creator's machine, as an ASGI application."""

from __future__ import annotations

import inspect
import json
import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

import anyio
from pydantic import BaseModel, ConfigDict, ValidationError
from standardwebhooks import Webhook

DEFAULT_AGENT_PORT = 8788
"""A local marketplace may call this port."""
WEBHOOK_SECRET_FILE = ".webhook-secret"
"""In the working folder; ``agent-rental publish`` writes it."""

_MAX_BODY_BYTES = 25 * 1024 * 1024
"""An input from a file may have 24 MiB as JSON."""
_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
_LOG = logging.getLogger(__name__)

Json: TypeAlias = Any
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]


class AgentTask(BaseModel):
    """The marketplace's task for a connected agent."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    agent_id: str
    task: str
    input: Json = None
    """In the form of the agent's input_schema, which the marketplace has checked."""
    input_uri: str | None = None
    timeout_seconds: int


@dataclass(frozen=True)
class Output:
    """The output of an agent that yields pieces, as its last piece. Without it all pieces together are the output."""

    value: Json


Handler: TypeAlias = (
    Callable[[AgentTask], AsyncGenerator[str | Output, None]]
    | Callable[[AgentTask], Awaitable[Json]]
    | Callable[[AgentTask], Json]
)
"""Does the work: a function, a coroutine function, or an async generator function that yields text in pieces."""


def task_prompt(task: AgentTask) -> str:
    """The prompt of a task for a language model: the task, then the input."""
    if task.input is None:
        return task.task
    text = task.input if isinstance(task.input, str) else json.dumps(task.input, indent=2, ensure_ascii=False)
    return f"{task.task}\n\n<input>\n{text}\n</input>"


def serve_agent(handler: Handler, *, webhook_secret: str | None = None) -> AsgiApp:
    """Makes the ASGI application of a connected agent, for uvicorn and other servers. In production, end TLS before it.

    It verifies the Standard Webhooks signature, so that only the marketplace can start work. It cancels the handler
    when the caller has left or the task's deadline has passed; a plain function's thread goes on. Errors of the handler
    go to the log, and the caller only learns that the run failed.

    :param webhook_secret: default: ``WEBHOOK_SECRET`` of the environment, else the content of the file
        ``WEBHOOK_SECRET_FILE``, else of ``.webhook-secret`` in the working folder, read at each task
    """

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            await _answer(scope, receive, _Reply(send))

    async def _answer(scope: Scope, receive: Receive, reply: _Reply) -> None:
        if scope["method"] in ("GET", "HEAD"):
            return await reply.json(200, {"status": "ok"})
        if scope["method"] != "POST":
            return await reply.json(405, {"error": "Send tasks with POST."})
        body = await _body_of(receive)
        if body is None:
            return await reply.json(413, {"error": "The task is too large."})
        secret = webhook_secret or await _found_secret()
        if secret is None:
            _LOG.error("A task came, and there is no webhook secret yet to verify it with.")
            return await reply.json(503, {"error": "The agent has no webhook secret yet."})
        sent = _verified(secret, scope["headers"], body)
        # Before publication the marketplace tests whether it can work with the agent.
        if isinstance(sent, dict) and sent.get("type") == "handshake" and isinstance(sent.get("challenge"), str):
            return await reply.json(200, {"challenge": sent["challenge"]})
        try:
            task = AgentTask.model_validate(sent)
        except ValidationError:
            return await reply.json(401, {"error": "The signature does not match, or the task is malformed."})
        async with anyio.create_task_group() as group:

            async def leave_with_caller() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                group.cancel_scope.cancel()

            group.start_soon(leave_with_caller)
            await _work(handler, task, reply)
            group.cancel_scope.cancel()

    return app


async def _work(handler: Handler, task: AgentTask, reply: _Reply) -> None:
    """Runs the handler within the task's time, and sends its answer."""
    try:
        with anyio.fail_after(task.timeout_seconds):
            if inspect.isasyncgenfunction(handler):
                await _send_pieces(handler(task), reply)
            else:
                await reply.json(200, await _result_of(handler, task))
    except Exception:
        _LOG.exception("The run %s failed.", task.run_id)
        await reply.failed()


async def _result_of(handler: Handler, task: AgentTask) -> Json:
    if inspect.iscoroutinefunction(handler):
        return await handler(task)
    plain = cast(Callable[[AgentTask], Json], handler)
    result = await anyio.to_thread.run_sync(plain, task, abandon_on_cancel=True)
    return await result if inspect.isawaitable(result) else result


async def _send_pieces(pieces: AsyncGenerator[str | Output, None], reply: _Reply) -> None:
    """Sends each piece as an ``output`` event, then one ``done`` event."""
    output: Output | None = None
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, Output):
                output = piece
            else:
                await reply.event("output", {"delta": piece})
    await reply.event("done", {} if output is None else {"output": output.value}, is_last=True)


class _Reply:
    """One response."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_stream = False

    async def json(self, status: int, body: Json) -> None:
        content = _encoded(body)
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": content})

    async def event(self, name: str, data: Json, is_last: bool = False) -> None:
        content = _encoded(data)
        if not self._is_stream:
            self._is_stream = True
            headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        event = b"event: " + name.encode() + b"\ndata: " + content + b"\n\n"
        await self._send({"type": "http.response.body", "body": event, "more_body": not is_last})

    async def failed(self) -> None:
        if self._is_stream:
            await self.event("done", {"status": "failed"}, is_last=True)
        else:
            await self.json(500, {"error": "The agent failed."})


def _encoded(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def _verified(secret: str, headers: list[tuple[bytes, bytes]], body: bytes) -> Json:
    """The request's content, if the marketplace's signature is right and recent."""
    given: Mapping[str, str] = {name.decode("latin1"): value.decode("latin1") for name, value in headers}
    try:
        return Webhook(secret).verify(body, {name: given.get(name, "") for name in _HEADERS})
    except Exception:
        # The library raises errors of several kinds for headers and bodies of strangers.
        return None


async def _body_of(receive: Receive) -> bytes | None:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > _MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return bytes(body)


async def _found_secret() -> str | None:
    given = os.environ.get("WEBHOOK_SECRET", "").strip()
    if given:
        return given
    path = anyio.Path(Path(os.environ.get("WEBHOOK_SECRET_FILE", WEBHOOK_SECRET_FILE)))
    try:
        return (await path.read_text("utf-8")).strip() or None
    except OSError:
        return None


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
