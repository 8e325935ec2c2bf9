import { ALWAYS_THERE_TOOLS, listingId } from '@agent-rental/contract';

/** Longest tool name: clients put a prefix before it and providers stop at 64. */
export const TOOL_NAME_MAX_LENGTH = 40;

/** Names that no tool of a rental has: the names of the fixed tools. */
export const RESERVED_TOOL_NAMES: ReadonlySet<string> = new Set(Object.keys(ALWAYS_THERE_TOOLS));

const HASH_LENGTH = 10;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * Name of a rental's direct tool, from its listing id alone, so that it never changes with what else is
 * rented: `invoice-reader-k3x7qa` is `invoice_reader_k3x7qa`.
 *
 * A listing id ends in six base32 characters and so does its name; an id that does not fit (it begins with a
 * digit, or is not one of ours) gets a hash of ten instead. No two listings can share a name by their ids,
 * and none can take the name of another tool.
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

/** The listing id of a name that is one with underscores; absent for names with a hash, which tell no id. */
export function listingIdOf(name: string): string | undefined {
  if (!/^[a-z][a-z0-9_]*$/.test(name) || RESERVED_TOOL_NAMES.has(name)) return undefined;
  const id = name.replaceAll('_', '-');
  return listingId.safeParse(id).success ? id : undefined;
}

async function hash(id: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(id)));
  return Array.from(digest.subarray(0, HASH_LENGTH), (byte) => BASE32[byte % 32]).join('');
}
