"""An agent of the Python SDK of A2A. It counts the words of a text, and says so in pieces."""

import asyncio
import os

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, Task, TaskState, TaskStatus
from starlette.applications import Starlette

PORT = int(os.environ["PORT"])


class WordCounter(AgentExecutor):
    async def execute(self, context, event_queue):
        text = context.get_user_input()
        working = TaskStatus(state=TaskState.TASK_STATE_WORKING)
        await event_queue.enqueue_event(Task(id=context.task_id, context_id=context.context_id, status=working))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if text == "fail":
            await updater.failed()
            return
        pieces = ["The text has ", f"{len(text.split())} words."]
        for index, piece in enumerate(pieces):
            await updater.add_artifact([Part(text=piece)], artifact_id="answer", append=index > 0)
        if text == "wait":
            print("waiting", flush=True)
            await asyncio.sleep(60)
        await updater.complete()

    async def cancel(self, context, event_queue):
        print("cancelled", flush=True)
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


url = f"http://127.0.0.1:{PORT}/"
card = AgentCard(
    name="Word counter",
    description="Counts the words of a text.",
    version="1.0.0",
    supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="count", name="Count", description="Counts words.", tags=["text"])],
)
handler = DefaultRequestHandler(agent_executor=WordCounter(), task_store=InMemoryTaskStore(), agent_card=card)
app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, rpc_url="/")])
uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
