"""Real frameworks call rented agents as tools; a model's stand-in asks for one call, and repeats the tool's result.

The full form of the tests runs it, with a framework's name: each brings many packages.
"""

import json
import os
import socket
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx
import uvicorn
from market import Market

from agent_rental import AsyncClient, Client
from agent_rental.creator import Receive, Scope, Send

ARGUMENTS: dict[str, Any] = {"task": "Count.", "input": {"text": "one two three"}}
"""The arguments of the model's one call, beside the agent's id."""
TOOL = ""
PRICE = 250_000


def completion(body: dict[str, Any]) -> dict[str, Any]:
    """Chat completions of OpenAI."""
    last = body["messages"][-1]
    if last["role"] == "tool":
        message: dict[str, Any] = {"role": "assistant", "content": f"DONE {last['content']}"}
    else:
        call = {"name": TOOL, "arguments": json.dumps(ARGUMENTS)}
        message = {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": call}]}
    choice = {"index": 0, "message": message, "finish_reason": "stop" if "content" in message else "tool_calls"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def message(body: dict[str, Any]) -> dict[str, Any]:
    """Messages of Anthropic."""
    last = body["messages"][-1]["content"]
    result = next((one for one in last if one["type"] == "tool_result"), None) if isinstance(last, list) else None
    if result is not None:
        said = result["content"] if isinstance(result["content"], str) else result["content"][0]["text"]
        content: list[dict[str, Any]] = [{"type": "text", "text": f"DONE {said}"}]
    else:
        content = [{"type": "tool_use", "id": "toolu_1", "name": TOOL, "input": ARGUMENTS}]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": "end_turn" if result is not None else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def generation(body: dict[str, Any]) -> dict[str, Any]:
    """Content of Gemini."""
    last = body["contents"][-1]["parts"][-1]
    response = last.get("functionResponse")
    part = {"functionCall": {"name": TOOL, "args": ARGUMENTS}}
    if response is not None:
        part = {"text": f"DONE {json.dumps(response['response'])}"}
    return {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}


async def model(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    body = b""
    more = True
    while more:
        received = await receive()
        body += received.get("body", b"")
        more = received.get("more_body", False)
    answer = message if "messages" in scope["path"] else generation if ":generate" in scope["path"] else completion
    content = json.dumps(answer(json.loads(body))).encode()
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": content})


async def langchain(client: AsyncClient, url: str) -> str:
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    from agent_rental.tools.langchain import rented_tools

    chat = ChatOpenAI(model="m", base_url=f"{url}/v1", api_key="x")
    agent = create_agent(chat, tools=await rented_tools(client))
    state = await agent.ainvoke({"messages": [{"role": "user", "content": "Go."}]})
    return str(state["messages"][-1].content)


async def openai_agents(client: AsyncClient, url: str) -> str:
    from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
    from openai import AsyncOpenAI

    from agent_rental.tools.openai_agents import rented_tools

    set_tracing_disabled(True)
    chat = OpenAIChatCompletionsModel("m", AsyncOpenAI(base_url=f"{url}/v1", api_key="x"))
    agent = Agent(name="a", model=chat, tools=list(await rented_tools(client)))
    return str((await Runner.run(agent, "Go.")).final_output)


async def pydantic_ai(client: AsyncClient, url: str) -> str:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from agent_rental.tools.pydantic_ai import rented_tools

    chat = OpenAIChatModel("m", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="x"))
    return str((await Agent(chat, tools=await rented_tools(client)).run("Go.")).output)


async def anthropic(client: AsyncClient, url: str) -> str:
    from anthropic import AsyncAnthropic

    from agent_rental.tools.anthropic import rented_tools

    chat = AsyncAnthropic(base_url=url, api_key="x")
    runner = chat.beta.messages.tool_runner(
        model="m", max_tokens=100, tools=await rented_tools(client), messages=[{"role": "user", "content": "Go."}]
    )
    return str((await runner.until_done()).content[0].text)


async def google_adk(client: AsyncClient, url: str) -> str:
    from google.adk.agents import LlmAgent
    from google.adk.models import Gemini
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    from agent_rental.tools.google_adk import rented_tools

    os.environ["GOOGLE_API_KEY"] = "x"
    chat = Gemini(model="gemini-2.5-flash", base_url=url)
    runner = InMemoryRunner(agent=LlmAgent(name="a", model=chat, tools=await rented_tools(client)), app_name="a")
    session = await runner.session_service.create_session(app_name="a", user_id="u")
    go = types.Content(role="user", parts=[types.Part(text="Go.")])
    said = ""
    async for event in runner.run_async(user_id="u", session_id=session.id, new_message=go):
        if event.content and event.content.parts and event.content.parts[0].text:
            said = event.content.parts[0].text
    return said


async def crewai(client: AsyncClient, url: str) -> str:
    from crewai import LLM, Agent, Crew, Task

    from agent_rental.tools.crewai import rented_tools

    chat = LLM(model="openai/gpt-4.1-mini", base_url=f"{url}/v1", api_key="x")
    with Client(client.base_url, wallet=client.wallet) as blocking:
        agent = Agent(role="a", goal="g", backstory="b", llm=chat, tools=rented_tools(blocking))
        crew = Crew(agents=[agent], tasks=[Task(description="Go.", expected_output="x", agent=agent)])
        return str(await crew.akickoff())


FRAMEWORKS: dict[str, Callable[[AsyncClient, str], Awaitable[str]]] = {
    one.__name__: one for one in (langchain, openai_agents, pydantic_ai, anthropic, google_adk, crewai)
}


async def main(name: str) -> None:
    global TOOL
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(model, port=port, log_level="warning"))
    threading.Thread(target=server.run, daemon=True).start()
    market = Market(json.loads(os.environ["AGENT_RENTAL_TEST_MARKET"]))
    async with AsyncClient(market.base_url, wallet=market.new_wallet()) as client:

        async def play(kind: str, text: str, charges: int, said: str) -> None:
            """Lets the framework do one call, and counts the charges."""
            global TOOL
            agent_id = market.own[kind]
            TOOL = agent_id.replace("-", "_")
            ARGUMENTS.update(agent_id=agent_id, input={"text": text})
            before = await balance(agent_id)
            answer = await FRAMEWORKS[name](client, f"http://127.0.0.1:{port}")
            spent = before - await settled(agent_id, before - charges * PRICE)
            print(f"{name} {kind} {text}: charges {spent / PRICE}, {answer[:200]!r}")
            assert spent == charges * PRICE
            assert answer.startswith("DONE") and said in answer

        async def balance(agent_id: str) -> int:
            return (await client.verify_credential(agent_id)).balance_lamports or 0

        async def settled(agent_id: str, expected: int) -> int:
            for _ in range(50):
                if await balance(agent_id) == expected:
                    break
                await anyio.sleep(0.1)
            return await balance(agent_id)

        for agent_id in market.own.values():
            await client.rent(agent_id, deposit_lamports=2 * PRICE)
        await play("streaming", "one two three", 1, "one two three ")
        await play("failing", "x", 1, "could not do the task")
        await play("slow", "20", 1, "started ended ")
        await play("streaming", "one", 1, "one ")
        await play("streaming", "one", 0, "insufficient_balance")
        if name == "crewai":
            return
        # The caller leaves: the agent is cancelled.
        async with anyio.create_task_group() as group:
            group.start_soon(play, "slow", name, 1, "never")
            while httpx.get(f"{market.own_url}/state?{name}").text != "running":
                await anyio.sleep(0.1)
            group.cancel_scope.cancel()
        while httpx.get(f"{market.own_url}/state?{name}").text != "cancelled":
            await anyio.sleep(0.1)
        assert await settled(market.own["slow"], 0) == 0
        print(f"{name} left: the agent was cancelled, charged once")


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
