import { ALWAYS_THERE_TOOLS, listingId } from '@agent-rental/contract';

/** Longest tool name: clients add a prefix, and providers allow 64 characters. */
export const TOOL_NAME_MAX_LENGTH = 40;

/** Names of the fixed tools, which no rental's tool may have. */
export const RESERVED_TOOL_NAMES: ReadonlySet<string> = new Set(Object.keys(ALWAYS_THERE_TOOLS));

const HASH_LENGTH = 10;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * Name of a rental's direct tool. It depends only on the listing id, so other rentals never change it:
 * `invoice-reader-k3x7qa` is `invoice_reader_k3x7qa`.
 *
 * A listing id ends in six base32 characters, and so does its name. Other ids (with a digit at the start, or not made by the
 * service) get a hash of ten characters. Two listings never share a name, and no listing has the name of another tool.
 */
export async function toolName(id: string): Promise<string> {
  const plain = id.replaceAll('-', '_');
  if (listingIdOf(plain) === id) return plain;
  const readable =
    plain
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '_')
      .replace(/^[^a-z]+|_+$/g, '') || 'agent';
  const stem = readable.slice(0, TOOL_NAME_MAX_LENGTH - HASH_LENGTH - 1).replace(/_+$/, '');
  return `${stem}_${await hash(id)}`;
}

/** The listing id of a name without a hash; undefined for names with a hash. */
export function listingIdOf(name: string): string | undefined {
  if (!/^[a-z][a-z0-9_]*$/.test(name) || RESERVED_TOOL_NAMES.has(name)) return undefined;
  const id = name.replaceAll('_', '-');
  return listingId.safeParse(id).success ? id : undefined;
}

async function hash(id: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(id)));
  return Array.from(digest.subarray(0, HASH_LENGTH), (byte) => BASE32[byte % 32]).join('');
}
