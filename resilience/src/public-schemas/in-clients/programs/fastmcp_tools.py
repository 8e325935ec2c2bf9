from calls import HEADERS, run
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport


async def visit(url, make_calls):
    async with Client(StreamableHttpTransport(url, headers=HEADERS)) as client:
        await client.list_tools()
        await make_calls(client.call_tool)


run(visit)
