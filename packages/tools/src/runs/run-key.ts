import { canonicalJson, type ExecuteBody } from '@agent-rental/contract';

/** Identity of a tool call, from the framework. */
export interface ToolCallIdentity {
  /** The conversation or thread. Call ids repeat across conversations; a scope does not. */
  readonly scope: string;
  /** Id of the tool call inside that conversation. */
  readonly toolCallId: string;
}

/** The parts of a run's idempotency key. */
export interface RunKeyInput extends ToolCallIdentity {
  readonly agentId: string;
  readonly args: unknown;
}

/**
 * Idempotency key of a run. A tool call that a retry or a resumed graph repeats is the same run, paid once. No model makes the
 * key: a model would make a new one for every retry.
 *
 * @returns sha256 in lower-case hex.
 */
export async function runKey(input: RunKeyInput): Promise<string> {
  const { scope, toolCallId, agentId, args } = input;
  return sha256(canonicalJson([scope, toolCallId, agentId, args]));
}

/**
 * Returns the key of a tool call: its own key, or a hash of its identity and arguments. Undefined if the framework gives
 * neither; then every call is new.
 */
export async function callKey(
  { idempotencyKey, call }: { idempotencyKey?: string | undefined; call?: ToolCallIdentity | undefined },
  agentId: string,
  args: unknown,
): Promise<string | undefined> {
  if (idempotencyKey !== undefined) return idempotencyKey;
  return call && runKey({ ...call, agentId, args });
}

/**
 * Key of an equal call: the same caller, listing and arguments give the same key.
 *
 * @returns sha256 in lower-case hex.
 */
export async function equalCallKey(caller: string, body: ExecuteBody): Promise<string> {
  return sha256(canonicalJson([caller, body]));
}

async function sha256(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
