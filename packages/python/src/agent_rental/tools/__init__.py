"""Rented agents as tools. The modules of this package are adapters of frameworks, over these neutral definitions."""

from .rented_tool import RentedTool, ToolResult, rented_tools

__all__ = ["RentedTool", "ToolResult", "rented_tools"]
