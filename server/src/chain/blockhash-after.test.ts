import { createDeadline } from '@agent-rental/contract';
import type { SignatureStatus } from '@solana/web3.js';
import { expect, it } from 'vitest';
import { blockhashAfter } from './blockhash-after.js';
import type { RpcEndpoint } from './endpoints/endpoint.js';

const NEWEST = { blockhash: 'newest', lastValidBlockHeight: 200 };
const at = (slot: number) => ({ slot, err: null, confirmations: 0 }) as SignatureStatus;

/** An endpoint that gives these statuses one after another, and the newest blockhash of a slot. */
function endpoint(statuses: (SignatureStatus | null)[], newestSlot: number) {
  const asked: unknown[] = [];
  const only = {
    rpc: {
      getSignatureStatuses: async () => ({
        slot: newestSlot,
        statuses: [statuses.length > 1 ? statuses.shift() : statuses[0]],
      }),
    },
    connection: {
      getLatestBlockhashAndContext: async (commitment: unknown) => {
        asked.push(commitment);
        return { context: { slot: newestSlot }, value: NEWEST };
      },
    },
  } as unknown as RpcEndpoint;
  return { only, asked };
}

it('waits until the newest block has the transaction', async () => {
  const { only, asked } = endpoint([null, at(7), at(7)], 7);
  expect(await blockhashAfter({ only }, 'a', new AbortController().signal)).toBe(NEWEST);
  expect(asked).toEqual(['processed']);
});

it.each<[string, (SignatureStatus | null)[], number]>([
  ['of an older block', [at(8)], 7],
  ['of another fork than before', [at(7), at(8), at(7), null], 7],
  ['of a transaction that failed', [{ ...at(7), err: 'AccountNotFound' }], 8],
  ['of a transaction that failed on another fork', [at(7), { ...at(7), err: 'AccountNotFound' }], 8],
])('gives no blockhash %s', async (_, statuses, newestSlot) => {
  const { only } = endpoint(statuses, newestSlot);
  const deadline = createDeadline(250);
  expect(await blockhashAfter({ only }, 'a', deadline.signal)).toBeUndefined();
  deadline.clear();
});

it('believes none of several endpoints alone', async () => {
  expect(await blockhashAfter({ only: undefined }, 'a', new AbortController().signal)).toBeUndefined();
});
