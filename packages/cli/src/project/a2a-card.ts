import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDeadline } from '@agent-rental/sdk';
import * as z from 'zod';
import type { CliEnvironment } from '../cli-environment.js';
import { CommandError } from '../errors.js';
import { AGENT_FILE } from './agent-file.js';

const READ_TIMEOUT_MS = 10_000;
const MAX_DESCRIPTION = 4_000;
const MAX_NAME = 64;
/** As in the templates of `init`. */
const TERMS = { rental_model: 'per_query', price_lamports: 1_000_000 };

const card = z.object({
  name: z.string().min(1),
  description: z.string().min(1),
  defaultOutputModes: z.array(z.string()).default([]),
  skills: z.array(z.object({ name: z.string(), description: z.string().default('') })).default([]),
});
type Card = z.infer<typeof card>;

/**
 * Writes `agent.json` for an agent of the A2A protocol, from its card.
 *
 * @throws CommandError where the folder has one already, and for an address without a card
 */
export async function writeAgentOfCard(
  url: string,
  { folder, signal }: Pick<CliEnvironment, 'folder' | 'signal'>,
): Promise<string> {
  if (!URL.canParse(url) || !new URL(url).pathname.endsWith('/agent-card.json'))
    throw new CommandError(`${url} is no address of a card: it ends with /agent-card.json.`);
  const agent = agentOf(await readCard(url, signal), url);
  try {
    writeFileSync(join(folder, AGENT_FILE), `${JSON.stringify(agent, null, 2)}\n`, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new CommandError(`There is an ${AGENT_FILE} in this folder already. Choose an empty folder.`);
  }
  return agent.name;
}

async function readCard(url: string, leaving: AbortSignal): Promise<Card> {
  const { signal, clear } = createDeadline(READ_TIMEOUT_MS, leaving);
  try {
    const response = await fetch(url, { headers: { 'a2a-version': '1.0' }, signal });
    return card.parse(await response.json());
  } catch (cause) {
    leaving.throwIfAborted();
    throw new CommandError(`There is no card of an A2A agent at ${url}.`, { cause });
  } finally {
    clear();
  }
}

function agentOf({ name, description, skills, defaultOutputModes }: Card, url: string) {
  const about = [description, ...skills.map((skill) => `- ${skill.name}: ${skill.description}`)].join('\n');
  const givesText =
    defaultOutputModes.length === 0 || defaultOutputModes.some((mode) => mode.startsWith('text'));
  return {
    name: nameOf(name),
    category: 'research',
    description: about.slice(0, MAX_DESCRIPTION),
    entrypoint_url: url,
    input_schema: { type: 'object' },
    output_schema: { type: givesText ? 'string' : 'object' },
    listing: { title: name, ...TERMS },
  };
}

/** A name in kebab-case. */
function nameOf(title: string): string {
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? ['agent'];
  return words.join('-').slice(0, MAX_NAME).replace(/-$/, '');
}
