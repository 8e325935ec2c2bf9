import type { RentedTool } from '@agent-rental/tools';
import type { Tool } from '@modelcontextprotocol/server';

function runsAgents(tool: RentedTool): boolean {
  return tool.agentId !== undefined || tool.name === 'run_agent';
}

/** The schema with what a server on the caller's own machine takes beside it: files of one folder. */
function withFiles(schema: Record<string, unknown>, folder: string): Record<string, unknown> {
  const description = `In place of input: path of a file inside ${folder}, which is sent to the agent.`;
  const properties = schema['properties'] as object;
  return { ...schema, properties: { ...properties, input_file: { type: 'string', description } } };
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
  const schema =
    inputFolder !== undefined && runsAgents(tool) ? withFiles(inputSchema, inputFolder) : inputSchema;
  return {
    name,
    title,
    description,
    inputSchema: { ...schema, type: 'object' },
    // Of the many, only what a client would not assume by itself.
    annotations: tool.agentId === undefined ? { title, ...annotations } : unassumed(annotations),
  };
}
