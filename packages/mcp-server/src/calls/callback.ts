import { runCallback, type RunCallback } from '@agent-rental/tools';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/** Key of `_meta` in a call: the address that hears of the end of its run. Programs set it; models cannot. */
const CALLBACK_META_KEY = 'agent-rental/callback';

/** The callback of a call. @throws ProtocolError for one of a wrong form */
export function callbackOf(meta: Readonly<Record<string, unknown>> | undefined): RunCallback | undefined {
  const given = meta?.[CALLBACK_META_KEY];
  if (given === undefined) return undefined;
  const { data, error } = runCallback.safeParse(given);
  if (data !== undefined) return data;
  const faults = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${CALLBACK_META_KEY}: ${faults.join('; ')}`);
}
