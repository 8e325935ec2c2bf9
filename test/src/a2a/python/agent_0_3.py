"""The agent of `agent.py` with the Python SDK of A2A 0.3."""

import asyncio
import os

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TextPart
from a2a.utils import new_task

PORT = int(os.environ["PORT"])


class WordCounter(AgentExecutor):
    async def execute(self, context, event_queue):
        text = context.get_user_input()
        task = new_task(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        if text == "fail":
            await updater.failed()
            return
        pieces = ["The text has ", f"{len(text.split())} words."]
        for index, piece in enumerate(pieces):
            await updater.add_artifact([Part(root=TextPart(text=piece))], artifact_id="answer", append=index > 0)
        if text == "wait":
            print("waiting", flush=True)
            await asyncio.sleep(60)
        await updater.complete()

    async def cancel(self, context, event_queue):
        print("cancelled", flush=True)
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


card = AgentCard(
    name="Word counter",
    description="Counts the words of a text.",
    version="1.0.0",
    url=f"http://127.0.0.1:{PORT}/",
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="count", name="Count", description="Counts words.", tags=["text"])],
)
handler = DefaultRequestHandler(agent_executor=WordCounter(), task_store=InMemoryTaskStore())
app = A2AStarletteApplication(agent_card=card, http_handler=handler).build()
uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
