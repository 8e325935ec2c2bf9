"""Rented agents as tools of Anthropic's client, for its ``tool_runner``; the extra ``anthropic``."""

from __future__ import annotations

from typing import Any

from anthropic.lib.tools import BetaAsyncFunctionTool, ToolError, beta_async_tool

from ..async_client import AsyncClient
from . import rented_tool as neutral


async def rented_tools(client: AsyncClient) -> list[BetaAsyncFunctionTool[Any]]:
    """A client's rented agents as tools for ``AsyncAnthropic().beta.messages.tool_runner``."""
    return [_tool_of(tool) for tool in await neutral.rented_tools(client)]


def _tool_of(tool: neutral.RentedTool) -> BetaAsyncFunctionTool[Any]:
    async def run(**arguments: Any) -> str:
        result = await tool.call(arguments)
        if result.is_error:
            raise ToolError(result.text)
        return result.text

    return beta_async_tool(run, name=tool.name, description=tool.description, input_schema=tool.schema)
