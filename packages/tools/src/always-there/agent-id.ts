import { BadArgumentsError, textArgument } from '../runs/run-arguments.js';

/** `agent_id` of a call that names an agent. */
export function agentIdArgument(given: Record<string, unknown>): string {
  const agentId = textArgument(given, 'agent_id')?.trim();
  if (agentId !== undefined && agentId !== '') return agentId;
  throw new BadArgumentsError('"agent_id" is missing: search_listings gives the ids of agents.');
}
