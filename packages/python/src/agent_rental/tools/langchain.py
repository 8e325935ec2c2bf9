"""Rented agents as tools of LangChain and LangGraph; the extra ``langchain``."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import adispatch_custom_event
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, ToolException

from ..async_client import AsyncClient
from . import rented_tool as neutral

DELTA_EVENT = "agent_rental_delta"
"""The custom event with early output, ``{"delta": text}``, for ``astream_events``."""


async def rented_tools(client: AsyncClient) -> list[BaseTool]:
    """A client's rented agents as tools for ``ainvoke``. A result's artifact is its ``ToolResult``."""
    return [
        _Tool(name=tool.name, description=tool.description, args_schema=tool.schema, rented=tool)
        for tool in await neutral.rented_tools(client)
    ]


class _Tool(BaseTool):
    rented: Any
    response_format: Any = "content_and_artifact"
    # An error's text becomes a message with the status `error`.
    handle_tool_error: Any = True

    def _run(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("Rented agents run in coroutines: call ainvoke.")

    async def _arun(self, *, config: RunnableConfig, **arguments: Any) -> tuple[str, neutral.ToolResult]:
        async for piece in self.rented.stream(arguments):
            if isinstance(piece, neutral.ToolResult):
                if piece.is_error:
                    raise ToolException(piece.text)
                return piece.text, piece
            await adispatch_custom_event(DELTA_EVENT, {"delta": piece}, config=config)
        raise AssertionError("A stream ends with its result.")
