import type { JsonObject } from '@agent-rental/contract';
import type { Caller } from './rented-marketplace.js';

/** The arguments of a tool of one agent. */
export interface BareCall {
  readonly agent_id: string;
  readonly task: string;
}

/** The JSON Schema of {@link BareCall}. */
export const BARE_CALL = {
  type: 'object' as const,
  properties: { agent_id: { type: 'string' as const }, task: { type: 'string' as const } },
  required: ['agent_id', 'task'],
} satisfies JsonObject;

/** Runs an agent by `fetch` alone. */
export async function bareCall(
  { baseUrl, token }: Pick<Caller, 'baseUrl' | 'token'>,
  { agent_id, task }: BareCall,
): Promise<string> {
  const response = await fetch(`${baseUrl}/v1/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_id, task }),
  });
  return String(((await response.json()) as { output?: unknown }).output);
}
