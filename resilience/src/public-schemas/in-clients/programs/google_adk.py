from calls import HEADERS, run
from google.adk.agents import LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.sessions import InMemorySessionService
from google.adk.tools.mcp_tool.mcp_session_manager import StreamableHTTPConnectionParams
from google.adk.tools.mcp_tool.mcp_toolset import McpToolset
from google.adk.tools.tool_context import ToolContext


async def visit(url, make_calls):
    toolset = McpToolset(connection_params=StreamableHTTPConnectionParams(url=url, headers=HEADERS))
    tools = {tool.name: tool for tool in await toolset.get_tools()}
    sessions = InMemorySessionService()
    session = await sessions.create_session(app_name="app", user_id="user")
    invocation = InvocationContext(
        session_service=sessions, invocation_id="1", agent=LlmAgent(name="assistant"), session=session
    )

    async def call(name, args):
        # A request to a model declares the tool, so a tool without a valid declaration cannot be called.
        tools[name]._get_declaration()
        return await tools[name].run_async(args=args, tool_context=ToolContext(invocation))

    await make_calls(call)
    await toolset.close()


run(visit)
