import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ConnectionError } from '../../errors.js';
import { sendAndConfirm, type SendingConnection } from './send-and-confirm.js';

type Status = { err: unknown; confirmationStatus: 'processed' | 'confirmed' | 'finalized' };

const sent = {
  wire: Uint8Array.of(1, 2, 3),
  signature: 'the-signature',
  lastValidBlockHeight: 100,
  programId: MARKETPLACE_PROGRAM_ID,
};

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A node with height and statuses from the test. */
function fakeNode() {
  const node = {
    height: 1,
    status: undefined as Status | undefined,
    isDown: false,
    logs: [] as string[],
    sends: [] as Uint8Array[],
  };
  const answer = <T>(value: T): Promise<T> =>
    node.isDown ? Promise.reject(new Error('down')) : Promise.resolve(value);
  const connection = {
    sendRawTransaction: (wire: Uint8Array) => {
      if (!node.isDown) node.sends.push(wire);
      return answer(sent.signature);
    },
    getBlockHeight: () => answer(node.height),
    getSignatureStatuses: () => answer({ context: { slot: 1 }, value: [node.status ?? null] }),
    getTransaction: () => answer({ meta: { logMessages: node.logs } }),
  } as unknown as SendingConnection;
  return { node, connection };
}

/** Follows a promise without an unhandled rejection. */
function follow(promise: Promise<void>) {
  const outcome = { isDone: false, error: undefined as unknown };
  const ended = promise.then(
    () => (outcome.isDone = true),
    (error: unknown) => Object.assign(outcome, { isDone: true, error }),
  );
  return { outcome, ended };
}

describe('sending', () => {
  test('sends the same bytes until they are final', async () => {
    const { node, connection } = fakeNode();
    const { outcome } = follow(sendAndConfirm(connection, sent));
    await vi.advanceTimersByTimeAsync(9_000);
    expect(outcome.isDone).toBe(false);
    expect(node.sends.length).toBeGreaterThanOrEqual(4);
    expect(new Set(node.sends)).toEqual(new Set([sent.wire]));
    for (const confirmationStatus of ['processed', 'confirmed'] as const) {
      node.status = { err: null, confirmationStatus };
      await vi.advanceTimersByTimeAsync(1_000);
      expect(outcome.isDone).toBe(false);
    }
    node.status = { err: null, confirmationStatus: 'finalized' };
    await vi.advanceTimersByTimeAsync(1_000);
    expect(outcome).toEqual({ isDone: true, error: undefined });
  });

  test('follows a landed transaction to its end, though the node refuses the same bytes again', async () => {
    const { node, connection } = fakeNode();
    const refusing = {
      ...connection,
      sendRawTransaction: () => Promise.reject(new Error('already processed')),
    };
    node.status = { err: null, confirmationStatus: 'confirmed' };
    const { outcome } = follow(sendAndConfirm(refusing, sent));
    await vi.advanceTimersByTimeAsync(20_000);
    expect(outcome.isDone).toBe(false);
    node.status = { err: null, confirmationStatus: 'finalized' };
    await vi.advanceTimersByTimeAsync(1_000);
    expect(outcome).toEqual({ isDone: true, error: undefined });
  });

  test('ends when the blockhash has expired and nothing landed', async () => {
    const { node, connection } = fakeNode();
    const { outcome } = follow(sendAndConfirm(connection, sent));
    node.height = sent.lastValidBlockHeight;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(outcome.isDone).toBe(false);
    node.height += 1;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(outcome.error).toMatchObject({ code: 'service_unavailable', status: 503 });
  });

  test('gives the program’s reason when the transaction landed and failed', async () => {
    const { node, connection } = fakeNode();
    node.status = { err: { InstructionError: [0, { Custom: 6101 }] }, confirmationStatus: 'finalized' };
    const { outcome, ended } = follow(sendAndConfirm(connection, sent));
    await ended;
    expect(outcome.error).toMatchObject({
      code: 'insufficient_balance',
      status: 403,
      onChainError: { program: MARKETPLACE_PROGRAM_ID.toBase58(), anchor_code: 6101 },
    });
  });

  test('finds in the logs of a landed failure that the money was short', async () => {
    const { node, connection } = fakeNode();
    node.status = { err: { InstructionError: [0, { Custom: 1 }] }, confirmationStatus: 'finalized' };
    node.logs = ['Transfer: insufficient lamports 5, need 10'];
    const { outcome, ended } = follow(sendAndConfirm(connection, sent));
    await ended;
    expect(outcome.error).toMatchObject({ code: 'invalid_request', onChainError: undefined });
    expect(String(outcome.error)).toContain('too little SOL');
  });

  test('survives a short failure of the endpoint', async () => {
    const { node, connection } = fakeNode();
    node.isDown = true;
    const { outcome } = follow(sendAndConfirm(connection, sent));
    await vi.advanceTimersByTimeAsync(4_000);
    node.isDown = false;
    node.status = { err: null, confirmationStatus: 'finalized' };
    await vi.advanceTimersByTimeAsync(1_000);
    expect(outcome).toEqual({ isDone: true, error: undefined });
    expect(node.sends).toHaveLength(1);
  });

  test('names the transaction if the endpoint is lost', async () => {
    const { node, connection } = fakeNode();
    node.isDown = true;
    const { outcome } = follow(sendAndConfirm(connection, sent));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(outcome.error).toBeInstanceOf(ConnectionError);
    expect(String(outcome.error)).toContain(sent.signature);
  });

  test('stops when it is aborted', async () => {
    const { node, connection } = fakeNode();
    const stopping = new AbortController();
    const { outcome } = follow(sendAndConfirm(connection, sent, stopping.signal));
    await vi.advanceTimersByTimeAsync(1_000);
    stopping.abort(new Error('enough'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(outcome.error).toMatchObject({ message: 'enough' });
    const sends = node.sends.length;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(node.sends).toHaveLength(sends);
  });
});
