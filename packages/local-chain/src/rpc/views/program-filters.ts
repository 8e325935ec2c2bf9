import bs58 from 'bs58';
import * as z from 'zod';
import type { AccountState } from '../../ledger/account-state.js';
import { countParam } from '../params.js';
import { isTokenAccount } from './token-accounts.js';

const MAX_FILTERS = 4;
const MAX_MEMCMP_BYTES = 128;
/** 128 bytes in base58 or base64. */
const MAX_MEMCMP_CHARACTERS = 176;

const memcmpParam = z
  .object({
    offset: countParam,
    bytes: z.union([
      z.string().max(MAX_MEMCMP_CHARACTERS),
      z.array(z.int().min(0).max(255)).max(MAX_MEMCMP_BYTES),
    ]),
    encoding: z.enum(['base58', 'base64']).nullish(),
  })
  .transform(({ offset, bytes, encoding }, context) => {
    const decoded = decodeBytes(bytes, encoding ?? 'base58');
    if (decoded !== null && decoded.length <= MAX_MEMCMP_BYTES) return { memcmp: { offset, bytes: decoded } };
    context.addIssue({
      code: 'custom',
      message: `bytes are not ${encoding ?? 'base58'} of at most 128 bytes`,
    });
    return z.NEVER;
  });

const filterParam = z.union([
  z.object({ memcmp: memcmpParam }).transform(({ memcmp }) => memcmp),
  z.object({ dataSize: countParam }),
  z.literal('tokenAccountState').transform(() => ({ tokenAccountState: true as const })),
]);

/** The `filters` of getProgramAccounts and programSubscribe: all must match. */
export const filtersParam = z.array(filterParam).max(MAX_FILTERS);

export type ProgramFilter = z.output<typeof filterParam>;

export function matchesFilters(
  account: AccountState,
  filters: readonly ProgramFilter[] | null | undefined,
): boolean {
  return (filters ?? []).every((filter) => matches(account.data, filter));
}

function matches(data: Uint8Array, filter: ProgramFilter): boolean {
  if ('dataSize' in filter) return data.length === filter.dataSize;
  if ('tokenAccountState' in filter) return isTokenAccount(data);
  const { offset, bytes } = filter.memcmp;
  return (
    offset + bytes.length <= data.length &&
    Buffer.compare(data.subarray(offset, offset + bytes.length), bytes) === 0
  );
}

function decodeBytes(bytes: string | number[], encoding: 'base58' | 'base64'): Uint8Array | null {
  if (typeof bytes !== 'string') return Uint8Array.from(bytes);
  if (encoding === 'base64') {
    const decoded = Buffer.from(bytes, 'base64');
    return decoded.toString('base64').replaceAll('=', '') === bytes.replaceAll('=', '') ? decoded : null;
  }
  try {
    return bs58.decode(bytes);
  } catch {
    return null;
  }
}
