"""The scenario of the MCP clients in Python: a job on standard input, its results on standard output, as JSON."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


def texts(result):
    return [block.text for block in result.content if block.type == "text"]


async def with_session(job, use):
    if "url" in job:
        opened = streamablehttp_client(job["url"], headers={"authorization": f"Bearer {job['token']}"})
    else:
        opened = stdio_client(StdioServerParameters(command=job["command"], args=job["args"], env=job["env"]))
    async with opened as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        return await use(session)


async def rents(session, job):
    agent = {"agent_id": job["agent_id"]}
    found = await session.call_tool("search_listings", {"query": job["query"], "sort": "newest", "limit": 25})
    rented = await session.call_tool("rent_listing", agent)
    ran = await session.call_tool("run_agent", {**agent, "task": "first", "input": {"wait_ms": 0}})
    long = await session.call_tool("run_agent", {**agent, "task": "long", "input": {"wait_ms": 20000}})
    long_id = long.meta["agent-rental/run"]["run_id"]
    cancelled = await session.call_tool("cancel_run", {"run_id": long_id})
    slow = await session.call_tool("run_agent", {**agent, "task": "slow", "input": {"wait_ms": 8000}})
    slow_id = slow.meta["agent-rental/run"]["run_id"]
    result = await session.call_tool("get_run", {"run_id": slow_id})
    while "is still running" in texts(result)[0]:
        result = await session.call_tool("get_run", {"run_id": slow_id})
    return {
        "found": texts(found)[0],
        "rented": rented.structuredContent,
        "ran": ran.structuredContent["output"],
        "long": texts(long)[0],
        "cancelled": texts(cancelled)[0],
        "slow": texts(slow)[0],
        "result": texts(result)[0],
    }


async def calls(session, job):
    outputs = []
    for _ in range(job["times"]):
        result = await session.call_tool(job["tool"], job["arguments"])
        outputs.append({"texts": texts(result), "run": result.meta["agent-rental/run"]["run_id"]})
    return {"outputs": outputs}


async def langchain(job):
    from langchain_mcp_adapters.client import MultiServerMCPClient

    if "url" in job:
        headers = {"authorization": f"Bearer {job['token']}"}
        server = {"transport": "streamable_http", "url": job["url"], "headers": headers}
    else:
        server = {"transport": "stdio", "command": job["command"], "args": job["args"], "env": job["env"]}
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"rentals": server}).get_tools()}

    async def say(name, **arguments):
        content = await tools[name].ainvoke(arguments)
        return content if isinstance(content, str) else "\n".join(block.get("text", "") for block in content)

    agent = {"agent_id": job["agent_id"]}
    found = await say("search_listings", query=job["query"], sort="newest", limit=25)
    rented = json.loads(await say("rent_listing", **agent))
    ran = await say("run_agent", **agent, task="first", input={"wait_ms": 0})
    long = await say("run_agent", **agent, task="long", input={"wait_ms": 20000})
    cancelled = await say("cancel_run", run_id=long.split()[2])
    slow = await say("run_agent", **agent, task="slow", input={"wait_ms": 8000})
    result = await say("get_run", run_id=slow.split()[2])
    return {
        "found": found,
        "rented": rented,
        "ran": json.loads(ran.split("\n")[0]),
        "long": long,
        "cancelled": cancelled,
        "slow": slow,
        "result": result.split("\n")[0],
    }


async def main():
    job = json.load(sys.stdin)
    if job["part"] == "langchain":
        seen = await langchain(job)
    else:
        part = {"rents": rents, "calls": calls}[job["part"]]
        seen = await with_session(job, lambda session: part(session, job))
    json.dump(seen, sys.stdout)


asyncio.run(main())
