# As the README of openai-agents shows it: a server over streamable HTTP, and an agent that uses it.
import asyncio
import os

from agents import Agent, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp

set_tracing_disabled(True)


async def main():
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    async with MCPServerStreamableHttp(params={"url": os.environ["MCP_URL"], "headers": headers}) as server:
        agent = Agent(name="Assistant", instructions="Use the tools.", model="gpt-4.1", mcp_servers=[server])
        result = await Runner.run(agent, os.environ["PROMPT"], max_turns=25)
        print(result.final_output)


asyncio.run(main())
