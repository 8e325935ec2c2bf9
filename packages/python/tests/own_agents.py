"""Agents of the tests, by ``serve_agent``: one server, and the path names the agent."""

import os
from collections.abc import AsyncGenerator

import anyio
import uvicorn

from agent_rental.creator import AgentTask, AsgiApp, Output, Receive, Scope, Send, serve_agent


async def streaming(task: AgentTask) -> AsyncGenerator[str | Output, None]:
    for word in task.input["text"].split():
        yield f"{word} "


async def slow(task: AgentTask) -> AsyncGenerator[str | Output, None]:
    """Streams at once, goes on for as many seconds as its input says, and keeps whether it was cancelled."""
    text = task.input["text"]
    state[text] = "running"
    try:
        yield "started "
        await anyio.sleep(float(text) if text.isdigit() else 60)
        yield "ended "
    except BaseException:
        state[text] = "cancelled"
        raise


def failing(task: AgentTask) -> str:
    raise RuntimeError(f"It cannot {task.task}")


state: dict[str, str] = {}
AGENTS: dict[str, AsgiApp] = {
    "/streaming": serve_agent(streaming),
    "/slow": serve_agent(slow),
    "/failing": serve_agent(failing),
}


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        return await AGENTS["/streaming"](scope, receive, send)
    path = scope["path"]
    if path == "/state":
        body = state.get(scope["query_string"].decode(), "").encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        return await send({"type": "http.response.body", "body": body})
    # Each agent has the secret of its registration.
    os.environ["WEBHOOK_SECRET_FILE"] = f"{os.environ['SECRETS']}{path}"
    await AGENTS[path](scope, receive, send)


if __name__ == "__main__":
    uvicorn.run(app, port=int(os.environ["PORT"]), log_level="warning")
