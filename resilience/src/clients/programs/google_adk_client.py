import asyncio
import os

from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.adk.tools.mcp_tool.mcp_session_manager import StreamableHTTPConnectionParams
from google.adk.tools.mcp_tool.mcp_toolset import McpToolset


async def main():
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    toolset = McpToolset(
        connection_params=StreamableHTTPConnectionParams(url=os.environ["MCP_URL"], headers=headers)
    )
    agent = LlmAgent(name="assistant", model=LiteLlm("openai/gpt-4.1"), tools=[toolset])
    runner = InMemoryRunner(agent)
    await runner.run_debug(os.environ["PROMPT"], quiet=False)
    await runner.close()


asyncio.run(main())
