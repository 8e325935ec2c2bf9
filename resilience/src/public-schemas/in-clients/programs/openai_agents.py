import json

from agents import Agent, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from agents.run_context import RunContextWrapper
from agents.tool_context import ToolContext
from calls import HEADERS, run

set_tracing_disabled(True)


async def visit(url, make_calls):
    async with MCPServerStreamableHttp(params={"url": url, "headers": HEADERS}) as server:
        agent = Agent(name="Assistant", mcp_servers=[server])
        tools = {tool.name: tool for tool in await agent.get_mcp_tools(RunContextWrapper(None))}

        async def call(name, args):
            text = json.dumps(args)
            context = ToolContext(None, tool_name=name, tool_call_id="call_1", tool_arguments=text)
            return await tools[name].on_invoke_tool(context, text)

        await make_calls(call)


run(visit)
