import { NEW_RUN_SCHEMA, type RentedTool } from '@agent-rental/tools';
import { listingIcons } from '../content/icons.js';
import type { Tool } from '@modelcontextprotocol/server';

/** Whether a tool takes the task and the input of an agent. */
export function runsAgents(tool: RentedTool): boolean {
  return tool.agentId !== undefined || tool.name === 'run_agent' || tool.name === 'hire';
}

/** Adds `input_file` to a schema, for a server on the caller's machine: files of one folder. */
function withFiles(schema: Record<string, unknown>, folder: string): Record<string, unknown> {
  const description = `In place of input: path of a file inside ${folder}, which is sent to the agent.`;
  const properties = schema['properties'] as object;
  return { ...schema, properties: { ...properties, input_file: { type: 'string', description } } };
}

/** Adds `new_run` to a schema, which distinguishes a second run from a client's retry. */
function withNewRun(schema: Record<string, unknown>): Record<string, unknown> {
  return { ...schema, properties: { ...(schema['properties'] as object), new_run: NEW_RUN_SCHEMA } };
}

/** A tool for MCP. @param inputFolder the folder whose files a call may name. */
export function toMcpTool(
  tool: RentedTool,
  { publicUrl, inputFolder }: { publicUrl: string; inputFolder: string | undefined },
): Tool {
  const { name, title, description, inputSchema, annotations } = tool;
  let schema: Record<string, unknown> = inputSchema;
  if (runsAgents(tool)) schema = withNewRun(schema);
  if (runsAgents(tool) && inputFolder !== undefined) schema = withFiles(schema, inputFolder);
  return {
    name,
    title,
    ...listingIcons(publicUrl, tool.iconPath),
    description,
    inputSchema: { ...schema, type: 'object' },
    // State all four hints, also defaults: some hosts drop tools without them.
    annotations: { ...(tool.agentId === undefined ? { title } : {}), ...annotations },
  };
}
