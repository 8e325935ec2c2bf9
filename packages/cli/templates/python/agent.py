"""Counts the words of a text."""

import os

import uvicorn
from agent_rental.creator import DEFAULT_AGENT_PORT, AgentTask, serve_agent


def count(task: AgentTask) -> dict[str, int | str]:
    """Does the work. An async generator function can stream a text in pieces."""
    text: str = task.input["text"]
    words = text.split()
    return {"words": len(words), "characters": len(text), "longest": max(words, key=len, default="")}


app = serve_agent(count)

if __name__ == "__main__":
    uvicorn.run(app, port=int(os.environ.get("PORT", DEFAULT_AGENT_PORT)), log_level="warning")
