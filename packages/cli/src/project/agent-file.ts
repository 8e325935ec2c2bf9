import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeConnected, type AgentFault } from '@agent-rental/sdk/creator';
import { CommandError } from '../errors.js';

/** The file that describes an agent. */
export const AGENT_FILE = 'agent.json';

/** An agent from its folder: the body of a registration. */
export interface AgentProject {
  readonly body: Record<string, unknown>;
  /** Notes to the creator about added fields. */
  readonly notes: string[];
  /** Files that the agent names and that cannot be read. */
  readonly faults: AgentFault[];
}

/**
 * Reads `agent.json`: the manifest's fields, and the terms in `listing`. `system_prompt_file`, `readme_file` and `icon_file`
 * name the files of the prompt, the README and the icon.
 *
 * @throws CommandError for a folder without a readable `agent.json`
 */
export function readAgentProject(folder: string): AgentProject {
  const given = parseObject(read(folder, AGENT_FILE), AGENT_FILE);
  const { system_prompt_file: promptFile, readme_file: readmeFile, icon_file: iconFile, ...others } = given;
  const { $schema: _, ...rest } = others;
  let body: Record<string, unknown> = rest;
  const faults: AgentFault[] = [];
  const bytesOf = (path: string, file: unknown): Buffer | undefined => {
    const bytes = typeof file === 'string' ? bytesIn(folder, file) : undefined;
    const fault = typeof file === 'string' ? `names ${file}, which cannot be read` : 'names no file';
    if (bytes === undefined) faults.push({ path, message: fault });
    return bytes;
  };
  const textOf = (path: string, file: unknown) => bytesOf(path, file)?.toString().trim();
  if (promptFile !== undefined) {
    // Without its file, the prompt alone is at fault.
    body = { ...body, system_prompt: textOf('system_prompt_file', promptFile) ?? 'unread' };
  }
  const addTerm = (path: string, term: Record<string, string | undefined>) => {
    if (body['listing'] === undefined) faults.push({ path, message: 'needs the terms in "listing"' });
    else body = { ...body, listing: { ...Object(body['listing']), ...term } };
  };
  if (readmeFile !== undefined) addTerm('readme_file', { readme: textOf('readme_file', readmeFile) });
  if (iconFile !== undefined) {
    addTerm('icon_file', { icon: bytesOf('icon_file', iconFile)?.toString('base64') });
  }
  const { body: whole, isFilled } = completeConnected(body);
  return {
    body: whole,
    faults,
    notes: isFilled
      ? ['model: set to self_hosted at entrypoint_url; the marketplace does not use it for a connected agent']
      : [],
  };
}

function read(folder: string, file: string): string {
  const bytes = bytesIn(folder, file);
  if (bytes !== undefined) return bytes.toString();
  throw new CommandError(
    `There is no ${file} in this folder. Make an agent with "agent-rental init", or change to its folder.`,
  );
}

function bytesIn(folder: string, file: string): Buffer | undefined {
  try {
    return readFileSync(join(folder, file));
  } catch {
    return undefined;
  }
}

function parseObject(text: string, file: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CommandError(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CommandError(`${file} holds no JSON object.`);
  }
  return value as Record<string, unknown>;
}
