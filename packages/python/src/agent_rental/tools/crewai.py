"""Rented agents as tools of CrewAI; the extra ``crewai``. A crew cannot interrupt its tools."""

from __future__ import annotations

from typing import Any

from crewai.tools import BaseTool
from pydantic import BaseModel, ConfigDict

from ..client import Client
from . import rented_tool as neutral


def rented_tools(client: Client) -> list[BaseTool]:
    """A client's rented agents as tools."""
    return [
        _Tool(
            name=tool.name,
            description=tool.description,
            args_schema=_arguments_of(tool),
            rented=tool,
            client=client,
        )
        for tool in neutral.rented_tools_blocking(client)
    ]


def _arguments_of(tool: neutral.RentedTool) -> type[BaseModel]:
    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        task: str
        input: Any = None

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            """The marketplace's schema."""
            return tool.schema

    return Arguments


class _Tool(BaseTool):
    rented: Any
    client: Any

    def _run(self, **arguments: Any) -> str:
        result: neutral.ToolResult = self.rented.call_blocking(self.client, arguments)
        return result.text
