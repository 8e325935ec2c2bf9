"""Rented agents as tools of Google's ADK; the extra ``google-adk``."""

from __future__ import annotations

from typing import Any

from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai.types import FunctionDeclaration

from ..async_client import AsyncClient
from . import rented_tool as neutral


async def rented_tools(client: AsyncClient) -> list[BaseTool]:
    """A client's rented agents as tools. Repeated calls of one call id are one run."""
    return [_Tool(tool) for tool in await neutral.rented_tools(client)]


class _Tool(BaseTool):
    def __init__(self, tool: neutral.RentedTool) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self._rented = tool

    def _get_declaration(self) -> FunctionDeclaration:
        return FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self._rented.schema
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> dict[str, str]:
        result = await self._rented.call(args, tool_context.function_call_id)
        return {"error" if result.is_error else "result": result.text}
