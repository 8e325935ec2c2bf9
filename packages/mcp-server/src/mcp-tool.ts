import type { RentedTool } from '@agent-rental/tools';
import type { Tool } from '@modelcontextprotocol/server';

/** What an agent takes as a file, beside what its tool says. */
const INPUT_URI = {
  type: 'string',
  description: 'Of a sent file, in place of input.',
};

function runsAgents(tool: RentedTool): boolean {
  return tool.agentId !== undefined || tool.name === 'run_agent';
}

function withFiles(schema: Record<string, unknown>, folder: string | undefined): Record<string, unknown> {
  const description = `In place of input: path of a file inside ${folder}, which is sent to the agent.`;
  return {
    ...schema,
    properties: {
      ...(schema['properties'] as object),
      input_uri: INPUT_URI,
      ...(folder === undefined ? {} : { input_file: { type: 'string', description } }),
    },
  };
}

/** What clients take a tool for that says nothing about itself (MCP, `ToolAnnotations`). */
const ASSUMED = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

function unassumed(annotations: RentedTool['annotations']): NonNullable<Tool['annotations']> {
  const hints = Object.keys(ASSUMED) as (keyof typeof ASSUMED)[];
  const differing = hints.filter((hint) => annotations[hint] !== ASSUMED[hint]);
  return Object.fromEntries(differing.map((hint) => [hint, annotations[hint]]));
}

/** A tool in the words of MCP. @param inputFolder the folder whose files a call may name. */
export function toMcpTool(tool: RentedTool, inputFolder: string | undefined): Tool {
  const { name, title, description, inputSchema, annotations } = tool;
  return {
    name,
    title,
    description,
    inputSchema: {
      ...(runsAgents(tool) ? withFiles(inputSchema, inputFolder) : inputSchema),
      type: 'object',
    },
    // Of the many, only what a client would not assume by itself.
    annotations: tool.agentId === undefined ? { title, ...annotations } : unassumed(annotations),
  };
}
