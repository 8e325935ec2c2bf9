import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeConnected } from '@agent-rental/sdk/creator';
import { CommandError } from '../errors.js';

/** The file that describes an agent. */
export const AGENT_FILE = 'agent.json';

/** An agent from its folder: the body of a registration. */
export interface AgentProject {
  readonly body: Record<string, unknown>;
  /** Notes to the creator about added fields. */
  readonly notes: string[];
}

/**
 * Reads `agent.json`: the manifest's fields, the terms in `listing`, and the names of the prompt's and
 * the README's file in `system_prompt_file` and `readme_file`.
 *
 * @throws CommandError with the wrong file and its fault.
 */
export function readAgentProject(folder: string): AgentProject {
  const given = parseObject(read(folder, AGENT_FILE), AGENT_FILE);
  const { system_prompt_file: promptFile, readme_file: readmeFile, $schema: _, ...rest } = given;
  let body: Record<string, unknown> = rest;
  if (promptFile !== undefined) {
    body = { ...body, system_prompt: readNamed(folder, promptFile, 'system_prompt_file') };
  }
  if (readmeFile !== undefined) {
    const readme = readNamed(folder, readmeFile, 'readme_file');
    if (body['listing'] === undefined) throw new CommandError('readme_file needs the terms in "listing".');
    body = { ...body, listing: { ...Object(body['listing']), readme } };
  }
  const { body: whole, isFilled } = completeConnected(body);
  return {
    body: whole,
    notes: isFilled
      ? ['model: set to self_hosted at entrypoint_url; the marketplace does not use it for a connected agent']
      : [],
  };
}

/** The text of a file that a field of `agent.json` names. */
function readNamed(folder: string, file: unknown, field: string): string {
  if (typeof file !== 'string') throw new CommandError(`${field} in ${AGENT_FILE} names no file.`);
  return read(folder, file).trim();
}

function read(folder: string, file: string): string {
  try {
    return readFileSync(join(folder, file), 'utf8');
  } catch {
    throw new CommandError(
      file === AGENT_FILE
        ? `There is no ${AGENT_FILE} in this folder. Make an agent with "agent-rental init", or change to its folder.`
        : `${file}, which ${AGENT_FILE} names, cannot be read.`,
    );
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
