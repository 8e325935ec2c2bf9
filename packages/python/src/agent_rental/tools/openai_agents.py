"""Rented agents as tools of the OpenAI Agents SDK; the extra ``openai-agents``."""

from __future__ import annotations

import json
from typing import Any

from agents import FunctionTool
from agents.tool_context import ToolContext

from ..async_client import AsyncClient
from . import rented_tool as neutral


async def rented_tools(client: AsyncClient) -> list[FunctionTool]:
    """A client's rented agents as tools. Repeated calls of one call id are one run."""
    return [_tool_of(tool) for tool in await neutral.rented_tools(client)]


def _tool_of(tool: neutral.RentedTool) -> FunctionTool:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        given = json.loads(arguments or "{}")
        result = await tool.call(given if isinstance(given, dict) else {}, context.tool_call_id)
        return result.text

    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=tool.schema,
        on_invoke_tool=invoke,
        # A creator's schema is not of the strict form.
        strict_json_schema=False,
    )
