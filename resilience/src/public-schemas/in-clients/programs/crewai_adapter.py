from calls import HEADERS, run
from crewai_tools import MCPServerAdapter


async def visit(url, make_calls):
    params = {"url": url, "transport": "streamable-http", "headers": HEADERS}
    with MCPServerAdapter(params) as adapted:
        tools = {tool.name: tool for tool in adapted}

        async def call(name, args):
            return tools[name].run(**args)

        await make_calls(call)


run(visit)
