import { NEW_RUN_SCHEMA, type RentedTool } from '@agent-rental/tools';
import type { Tool } from '@modelcontextprotocol/server';

function runsAgents(tool: RentedTool): boolean {
  return tool.agentId !== undefined || tool.name === 'run_agent' || tool.name === 'hire';
}

/** The schema, and the additional input of a server on the caller's machine: files of one folder. */
function withFiles(schema: Record<string, unknown>, folder: string): Record<string, unknown> {
  const description = `In place of input: path of a file inside ${folder}, which is sent to the agent.`;
  const properties = schema['properties'] as object;
  return { ...schema, properties: { ...properties, input_file: { type: 'string', description } } };
}

/** The schema with what tells a second run from a client's retry. */
function withNewRun(schema: Record<string, unknown>): Record<string, unknown> {
  return { ...schema, properties: { ...(schema['properties'] as object), new_run: NEW_RUN_SCHEMA } };
}

/** A tool in the words of MCP. @param inputFolder the folder whose files a call may name. */
export function toMcpTool(tool: RentedTool, inputFolder: string | undefined): Tool {
  const { name, title, description, inputSchema, annotations } = tool;
  let schema: Record<string, unknown> = inputSchema;
  if (runsAgents(tool)) schema = withNewRun(schema);
  if (runsAgents(tool) && inputFolder !== undefined) schema = withFiles(schema, inputFolder);
  return {
    name,
    title,
    description,
    inputSchema: { ...schema, type: 'object' },
    // All four, also default ones: some hosts drop tools that do not state them.
    annotations: { ...(tool.agentId === undefined ? { title } : {}), ...annotations },
  };
}
