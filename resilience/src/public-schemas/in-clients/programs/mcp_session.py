from calls import HEADERS, run
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


async def visit(url, make_calls):
    async with streamablehttp_client(url, headers=HEADERS) as (read, write, _):
        async with ClientSession(read, write) as session:
            await session.initialize()
            await session.list_tools()
            await make_calls(session.call_tool)


run(visit)
