from calls import HEADERS, run
from pydantic_ai import RunContext
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage


async def visit(url, make_calls):
    async with MCPToolset(url, headers=HEADERS) as toolset:
        context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
        tools = await toolset.get_tools(context)

        async def call(name, args):
            tool = tools[name]
            return await toolset.call_tool(name, tool.args_validator.validate_python(args), context, tool)

        await make_calls(call)


run(visit)
