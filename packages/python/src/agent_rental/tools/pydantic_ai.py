"""Rented agents as tools of Pydantic AI; the extra ``pydantic-ai``."""

from __future__ import annotations

from typing import Any

from pydantic_ai import RunContext, Tool

from ..async_client import AsyncClient
from . import rented_tool as neutral


async def rented_tools(client: AsyncClient) -> list[Tool[Any]]:
    """A client's rented agents as tools. Repeated calls of one call id are one run."""
    return [_tool_of(tool) for tool in await neutral.rented_tools(client)]


def _tool_of(tool: neutral.RentedTool) -> Tool[Any]:
    async def run(context: RunContext[Any], **arguments: Any) -> str:
        return (await tool.call(arguments, context.tool_call_id)).text

    return Tool.from_schema(run, name=tool.name, description=tool.description, json_schema=tool.schema, takes_ctx=True)
