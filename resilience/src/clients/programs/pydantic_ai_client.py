import asyncio
import os

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset

server = MCPToolset(os.environ["MCP_URL"], headers={"Authorization": f"Bearer {os.environ['TOKEN']}"})
agent = Agent("openai:gpt-4.1", toolsets=[server])


async def main():
    async with agent:
        result = await agent.run(os.environ["PROMPT"])
    print(result.output)


asyncio.run(main())
