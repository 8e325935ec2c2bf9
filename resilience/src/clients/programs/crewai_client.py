import os

from crewai import Agent, Crew, Task
from crewai_tools import MCPServerAdapter

params = {
    "url": os.environ["MCP_URL"],
    "transport": "streamable-http",
    "headers": {"Authorization": f"Bearer {os.environ['TOKEN']}"},
}
with MCPServerAdapter(params) as tools:
    agent = Agent(role="Assistant", goal="Use the tools", backstory="An assistant.", tools=tools, llm="gpt-4.1")
    task = Task(description=os.environ["PROMPT"], expected_output="The agent's answer", agent=agent)
    print(Crew(agents=[agent], tasks=[task]).kickoff())
