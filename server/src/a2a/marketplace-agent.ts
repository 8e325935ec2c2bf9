import type { JsonObject } from '@agent-rental/contract';
import type { RentalClient } from '@agent-rental/sdk';
import { rentedToolset } from '@agent-rental/tools';
import type { Message } from '@a2a-js/sdk';
import { dataOf, malformed, readMessage, textOf } from './read-message.js';
import type { Asked } from './task-handler.js';
import { dataPart, messageOf, textPart } from './task-of-run.js';

/** The skills of the marketplace itself, and the tool that each is. A message names one in its data part. */
const TOOL_OF_SKILL: Readonly<Record<string, string>> = { find: 'search_listings', rent: 'rent_listing' };

/**
 * Reads a message to the marketplace. Text alone is a search. Data has the skill and its arguments: `{"skill": "rent",
 * "agent_id": ...}`.
 *
 * @throws RequestMalformedError for another skill, and for a run without an agent.
 */
export async function readMarketplaceMessage(
  client: RentalClient,
  message: Message,
  where: { publicUrl: string; programId: string; signal: AbortSignal },
): Promise<Asked> {
  const { skill = 'find', ...given } = dataOf(message) ?? {};
  if (skill === 'run') return readRun(client, message, given);
  const name =
    typeof skill === 'string' && Object.hasOwn(TOOL_OF_SKILL, skill) ? TOOL_OF_SKILL[skill] : undefined;
  if (name === undefined) throw malformed('The skill is unknown. It is one of find, rent and run.');
  const { alwaysThere } = rentedToolset(client, where);
  const tool = alwaysThere.find((each) => each.name === name);
  if (!tool) throw new Error(`There is no tool ${name}.`);
  const text = textOf(message);
  const args = skill === 'find' && text !== '' ? { query: text, ...given } : given;
  const { structured, text: told } = await tool.invoke(args, { signal: where.signal });
  const ids = { taskId: '', contextId: message.contextId };
  const parts = structured ? [dataPart(structured)] : [textPart(told)];
  return { answer: messageOf(ids, parts, `answer-${message.messageId}`) };
}

async function readRun(client: RentalClient, message: Message, given: JsonObject): Promise<Asked> {
  const { agent_id: agentId, task, input, ...others } = given;
  if (typeof agentId !== 'string') throw malformed('A run needs agent_id, the id of a listing.');
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw malformed(`A run takes agent_id, task and input, and no ${other.slice(0, 50)}.`);
  if (task !== undefined && typeof task !== 'string') throw malformed('The task of a run is text.');
  // The message that its agent would get.
  const parts = message.parts.filter(({ content }) => content?.$case !== 'data');
  const forAgent = [
    ...parts,
    ...(task === undefined ? [] : [textPart(task)]),
    ...(input === undefined ? [] : [dataPart(input)]),
  ];
  return { agentId, run: await readMessage(client, { ...message, parts: forAgent }) };
}
