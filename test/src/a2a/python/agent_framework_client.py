"""Microsoft's Agent Framework, unmodified: rented agents as its A2A agents."""

import asyncio
import json
import sys
import warnings

import httpx
from a2a.client import A2ACardResolver
from a2a.types import CancelTaskRequest, TaskState
from agent_framework.a2a import A2AAgent

warnings.simplefilter("ignore")


async def main(job):
    headers = {"Authorization": f"Bearer {job['token']}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:

        async def connect(name):
            card = await A2ACardResolver(http, job["urls"][name]).get_agent_card()
            return A2AAgent(agent_card=card, http_client=http)

        async def streamed(agent):
            """The updates of a streamed run, and its text in the end."""
            stream = agent.run(job["task"], stream=True)
            updates = [update.text async for update in stream]
            return {"updates": updates, "text": (await stream.get_final_response()).text}

        rented, failing, unpaid, low = [await connect(name) for name in ["rented", "failing", "unpaid", "low"]]
        run = await rented.run(job["task"])
        stream = await streamed(rented)
        held = await rented.run(job["held_task"], background=True)
        cancelled = await rented.client.cancel_task(CancelTaskRequest(id=held.continuation_token["task_id"]))
        return {
            "name": rented.name,
            "run": run.text,
            "stream": stream,
            "cancelled": TaskState.Name(cancelled.status.state),
            "failed": await streamed(failing),
            "unpaid": await streamed(unpaid),
            "last": (await low.run(job["task"])).text,
            "low": await streamed(low),
        }


print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
