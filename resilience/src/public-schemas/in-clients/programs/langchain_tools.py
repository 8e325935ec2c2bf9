from calls import HEADERS, run
from langchain_mcp_adapters.client import MultiServerMCPClient


async def visit(url, make_calls):
    client = MultiServerMCPClient(
        {"rental": {"transport": "streamable_http", "url": url, "headers": HEADERS}}
    )
    tools = {tool.name: tool for tool in await client.get_tools()}

    async def call(name, args):
        return await tools[name].ainvoke(args)

    await make_calls(call)


run(visit)
