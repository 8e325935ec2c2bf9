import {
  ACCOUNT_DISCRIMINATORS,
  ACCOUNT_SIZES,
  ACCOUNT_VERSION,
  MARKETPLACE_PROGRAM_ID,
} from '@agent-rental/program-client';
import type { PublicKey } from '@solana/web3.js';
import { expect, it } from 'vitest';
import type { Chain } from './chain.js';
import { createProtocolReader } from './protocol.js';

function world() {
  const state = { reads: 0, time: 0, isReachable: true };
  const data = Buffer.alloc(ACCOUNT_SIZES.Protocol);
  data.set(ACCOUNT_DISCRIMINATORS.Protocol);
  data[8] = ACCOUNT_VERSION;
  const chain = {
    programId: MARKETPLACE_PROGRAM_ID,
    getAccounts: async (addresses: PublicKey[]) => {
      state.reads += 1;
      if (!state.isReachable) throw new Error('no chain');
      const account = { data, owner: MARKETPLACE_PROGRAM_ID, lamports: 1, executable: false };
      return { slot: 1n, accounts: addresses.map(() => account) };
    },
  } as unknown as Chain;
  return { state, reader: createProtocolReader(chain, () => state.time) };
}

it('reads the protocol again after 30 s, and at once when asked to [MON-20]', async () => {
  const { state, reader } = world();
  await reader.current();
  state.time = 29_999;
  await reader.current();
  expect(state.reads).toBe(1);
  state.time = 30_000;
  await reader.current();
  expect(state.reads).toBe(2);
  await reader.refreshed();
  expect(state.reads).toBe(3);
});

it('asks the chain once for all that ask at the same time, and again after a failure', async () => {
  const { state, reader } = world();
  await Promise.all([reader.current(), reader.refreshed(), reader.current()]);
  expect(state.reads).toBe(1);
  state.isReachable = false;
  await expect(reader.refreshed()).rejects.toThrow('no chain');
  state.isReachable = true;
  await expect(reader.refreshed()).resolves.toBeDefined();
});
