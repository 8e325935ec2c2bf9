import {
  ACCOUNT_SIZES,
  accountName,
  MARKETPLACE_IDL,
  MARKETPLACE_PROGRAM_ID,
} from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localChain } from './chains/local-chain.js';
import { surfnet, surfnetRunsHere } from './chains/surfnet.js';
import type { TestChainKind } from './chains/test-chain.js';
import type { Market } from './market.js';

/** The chains that run on this machine. */
export const TEST_CHAINS: readonly TestChainKind[] = surfnetRunsHere ? [localChain, surfnet] : [localChain];

const DISCRIMINATOR_BYTES = 8;
const FIELD_BYTES: Record<string, number> = { bool: 1, u8: 1, u16: 2, u32: 4, u64: 8, i64: 8, pubkey: 32 };

/** Unsigned fields that hold lengths of time and dates: the fields of a listing's pauses. */
const TIME_FIELDS = /^pause_/;

/**
 * Runs the same tests on every chain, then compares the results: each transaction's error, logs, events, units, fee and
 * balances. It also compares every account's bytes at the end. Times alone may differ.
 */
export function onEveryChain(
  start: (kind: TestChainKind) => Promise<Market>,
  suite: (at: () => Market) => void,
): void {
  const results = new Map<string, unknown>();

  describe.each(TEST_CHAINS)('on $name', (kind) => {
    let market: Market;
    beforeAll(async () => {
      market = await start(kind);
    });
    afterAll(async () => {
      try {
        results.set(kind.name, await comparable(market));
      } finally {
        await market.close();
      }
    });
    suite(() => market);
  });

  it.runIf(TEST_CHAINS.length > 1)('every chain gave the same results, logs, events and bytes', () => {
    expect(results.size).toBe(TEST_CHAINS.length);
    const [first, ...others] = results.values();
    for (const other of others) {
      expect(other).toEqual(first);
    }
  });
}

async function comparable(market: Market): Promise<unknown> {
  const accounts = await market.chain.connection.getProgramAccounts(MARKETPLACE_PROGRAM_ID);
  return {
    transactions: market.sender.transcript.map((outcome) => ({
      ...outcome,
      // It covers a blockhash, which is the chain's own.
      signature: null,
      logs: outcome.logs.filter((line) => !line.startsWith('Program data: ')),
      events: outcome.events.map(({ name, data }) => ({ name, data: withoutTimes(data) })),
    })),
    wallets: await market.walletLamports(),
    accounts: Object.fromEntries(
      accounts.map(({ pubkey, account }) => [
        pubkey.toBase58(),
        { lamports: account.lamports, data: withoutTimeBytes(account.data).toString('hex') },
      ]),
    ),
  };
}

function withoutTimes(data: object): unknown {
  return Object.fromEntries(
    Object.entries(data)
      .filter(([field]) => field !== 'expiresAt')
      .map(([field, value]: [string, unknown]) => [
        field,
        value instanceof PublicKey ? value.toBase58() : value,
      ]),
  );
}

/** The bytes with zeros in place of times: every signed number of the program's accounts, and the pauses. */
function withoutTimeBytes(data: Buffer): Buffer {
  const name = accountName(data);
  const def = MARKETPLACE_IDL.types.find((type) => type.name === name)?.type;
  if (name === null || def?.kind !== 'struct' || data.length !== ACCOUNT_SIZES[name]) {
    throw new Error(`Not an account of the program: ${data.toString('hex')}`);
  }
  const bytes = Buffer.from(data);
  let offset = DISCRIMINATOR_BYTES;
  for (const { name: field, type } of def.fields) {
    if (type === 'string' || (typeof type === 'object' && !('defined' in type))) {
      break; // Strings, windows and reserved bytes are last.
    }
    // A type defined elsewhere is an enum of one byte.
    const size = typeof type === 'object' ? 1 : (FIELD_BYTES[type] ?? Number.NaN);
    if (type === 'i64' || TIME_FIELDS.test(field)) {
      bytes.fill(0, offset, offset + size);
    }
    offset += size;
  }
  return bytes;
}
