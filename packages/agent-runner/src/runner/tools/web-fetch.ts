import type { JsonValue } from '../../protocol.js';
import { parseArguments, requiredText } from './arguments.js';
import type { Host } from '../host.js';

/** `web_fetch`: the host reads the page; there is no network here. */
export async function fetchPage(rawArguments: string, host: Host): Promise<JsonValue> {
  const args = parseArguments(rawArguments, ['url']);
  return { ...(await host.call('web.fetch', { url: requiredText(args, 'url', 2_000) })) };
}
