"""Google's ADK, unmodified: rented agents as RemoteA2aAgents."""

import asyncio
import json
import sys
import warnings

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import CancelTaskRequest
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, Part

warnings.simplefilter("ignore")


async def events_of(agent, text):
    """The events of a run, one by one, each with the task that it tells of."""
    runner = InMemoryRunner(agent=agent, app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="user")
    asked = Content(role="user", parts=[Part(text=text)])
    async for event in runner.run_async(user_id="user", session_id=session.id, new_message=asked):
        parts = event.content.parts if event.content else []
        text = "".join(part.text or "" for part in parts or [])
        task = event.custom_metadata["a2a:response"]
        message = task["status"].get("message", {"parts": []})
        told = "".join(part["text"] for part in message["parts"])
        state = task["status"]["state"]
        yield {"text": text, "partial": bool(event.partial), "task": task["id"], "state": state, "told": told}


async def main(job):
    headers = {"Authorization": f"Bearer {job['token']}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:

        def connect(name):
            card = f"{job['urls'][name]}/.well-known/agent-card.json"
            return RemoteA2aAgent(name=name, agent_card=card, httpx_client=http)

        async def run(name):
            return [event async for event in events_of(connect(name), job["task"])]

        async def cancelled(name):
            """Cancels the task at the first event, by the client that ADK uses. ADK itself has no word for it."""
            card = await A2ACardResolver(http, job["urls"][name]).get_agent_card()
            client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
            states = []
            async for event in events_of(connect(name), job["held_task"]):
                if not states:
                    await client.cancel_task(CancelTaskRequest(id=event["task"]))
                states.append(event["state"])
            return states

        return {
            "run": await run("rented"),
            "cancelled": await cancelled("rented"),
            "failed": (await run("failing"))[-1],
            "unpaid": (await run("unpaid"))[-1],
            "last": (await run("low"))[-1],
            "low": (await run("low"))[-1],
        }


print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
