import asyncio
import os

from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.prebuilt import create_react_agent


async def main():
    client = MultiServerMCPClient(
        {
            "rental": {
                "transport": "streamable_http",
                "url": os.environ["MCP_URL"],
                "headers": {"Authorization": f"Bearer {os.environ['TOKEN']}"},
            }
        }
    )
    agent = create_react_agent("openai:gpt-4.1", await client.get_tools())
    answer = await agent.ainvoke({"messages": os.environ["PROMPT"]}, {"recursion_limit": 50})
    print(answer["messages"][-1].text)


asyncio.run(main())
