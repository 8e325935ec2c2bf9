import asyncio, json, os
from langchain_mcp_adapters.client import MultiServerMCPClient
server = {"transport": "streamable_http", "url": os.environ["AGENT_RENTAL_MCP_URL"], "headers": {"Authorization": "Bearer " + os.environ["AGENT_RENTAL_API_KEY"]}}
tools = asyncio.run(MultiServerMCPClient({"agent-rental": server}).get_tools())
run_agent = next(tool for tool in tools if tool.name == "run_agent")
print(asyncio.run(run_agent.ainvoke(json.loads(os.environ["REQUEST"]))))
