import asyncio
import json
import os

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport


async def main():
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    wish = json.loads(os.environ["WISH"])
    async with Client(StreamableHttpTransport(os.environ["MCP_URL"], headers=headers)) as client:
        await client.list_tools()
        name, args = wish["tool"], wish["args"]
        for _ in range(20):
            result = await client.call_tool(name, args, raise_on_error=False)
            text = "\n".join(getattr(part, "text", "") for part in result.content)
            if "is still running" not in text:
                print(text)
                return
            words = text.split()
            name, args = "get_run", {"run_id": words[words.index("Run") + 1].rstrip(",")}


asyncio.run(main())
