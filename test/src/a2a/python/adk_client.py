"""Google's ADK, unmodified: a rented agent as a RemoteA2aAgent."""

import asyncio
import json
import sys
import warnings

import httpx
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, Part

warnings.simplefilter("ignore")


async def main(job):
    headers = {"Authorization": f"Bearer {job['token']}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        card = f"{job['url']}/.well-known/agent-card.json"
        runner = InMemoryRunner(agent=RemoteA2aAgent(name="rented", agent_card=card, httpx_client=http), app_name="app")
        session = await runner.session_service.create_session(app_name="app", user_id="user")
        asked = Content(role="user", parts=[Part(text=job["task"])])
        seen = []
        async for event in runner.run_async(user_id="user", session_id=session.id, new_message=asked):
            parts = event.content.parts if event.content else []
            text = "".join(part.text or "" for part in parts or [])
            seen.append({"text": text, "error": event.error_message, "partial": bool(event.partial)})
        return {"events": seen}


print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
