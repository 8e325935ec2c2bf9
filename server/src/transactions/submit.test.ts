import { MARKETPLACE_PROGRAM_ID, updateListing } from '@agent-rental/program-client';
import { Keypair, SystemProgram, TransactionInstruction, type SignatureStatus } from '@solana/web3.js';
import { describe, expect, test } from 'vitest';
import type { Chain } from '../chain/index.js';
import { collectingGarbage } from '../testing/index.js';
import { base64Of, chainWith, LANDED, signed } from './signed.test-support.js';
import { parseSignedTransaction, submitAndConfirm } from './submit.js';

const wallet = Keypair.generate();
const address = wallet.publicKey.toBase58();
const instruction = updateListing({
  creator: wallet.publicKey,
  listingId: 'invoice-reader-k3x7qa',
  status: 'paused',
});

const parse = (text: string) => parseSignedTransaction(text, address, MARKETPLACE_PROGRAM_ID);

describe('a signed transaction', () => {
  const transfer = SystemProgram.transfer({
    fromPubkey: wallet.publicKey,
    toPubkey: wallet.publicKey,
    lamports: 1,
  });
  const unsigned = signed([instruction], wallet);
  unsigned.signatures[0] = new Uint8Array(64);
  const other = Keypair.generate();
  const elsewhere = new TransactionInstruction({
    keys: [],
    programId: MARKETPLACE_PROGRAM_ID,
    data: instruction.data,
  });

  const valid = signed([instruction], wallet);

  test('of the caller is taken', () => {
    expect(parse(base64Of(valid)).message.staticAccountKeys[0]).toEqual(wallet.publicKey);
  });

  test.each([
    ['paid by another', base64Of(signed([elsewhere], other))],
    ['that does not call the program', base64Of(signed([transfer], wallet))],
    ['without a signature', base64Of(unsigned)],
    ['that is noise', Buffer.alloc(200, 9).toString('base64')],
    ['that is empty', ''],
    ['with bytes after it', Buffer.concat([valid.serialize(), Buffer.of(0)]).toString('base64')],
  ])('%s is refused [TXN-4]', (_, text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});

describe('submitting', () => {
  const refused = { InstructionError: [0, { Custom: 6004 }] as [number, { Custom: number }] };
  const transaction = parse(base64Of(signed([instruction], wallet)));

  /** A chain whose state a test sets; a transaction lands with one of its sends. */
  function fakeChain() {
    const state = {
      preflight: null as Awaited<ReturnType<Chain['preflight']>>,
      known: null as SignatureStatus | null,
      landsAtSend: 1,
      landsAs: LANDED,
      height: 1n,
      sends: 0,
    };
    const chain = chainWith({
      preflight: async () => state.preflight,
      statuses: async () => [state.known],
      blockHeight: async () => state.height,
      send: async () => void (state.sends += 1),
      waitForConfirmation: async () => (state.sends >= state.landsAtSend ? state.landsAs : null),
    });
    return { state, chain };
  }

  test('sends the same bytes again until they land [TXN-4]', async () => {
    const { state, chain } = fakeChain();
    state.landsAtSend = 3;
    await submitAndConfirm(chain, transaction);
    expect(state.sends).toBe(3);
  });

  test('sends again in time although garbage is collected [EXE-47]', async () => {
    const { state, chain } = fakeChain();
    state.landsAtSend = 2;
    const waiting: AbortSignal[] = [];
    chain.waitForConfirmation = (_signature, _height, signal) => {
      if (state.sends >= state.landsAtSend) return Promise.resolve(state.landsAs);
      waiting.push(signal);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
    };
    await collectingGarbage(() => submitAndConfirm(chain, transaction));
    expect(state.sends).toBe(2);
  });

  test('ends when the blockhash has expired [TXN-4]', async () => {
    const { state, chain } = fakeChain();
    state.landsAtSend = 2;
    state.height = 151n;
    await expect(submitAndConfirm(chain, transaction)).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    expect(state.sends).toBe(1);
  });

  test.each([
    ['before it is sent', { preflight: { error: refused, logs: [] } }, 0],
    ['after it has landed', { landsAs: { ...LANDED, err: refused } }, 1],
  ])('gives the program’s error, %s [TXN-6]', async (_, given, sends) => {
    const { state, chain } = fakeChain();
    Object.assign(state, given);
    await expect(submitAndConfirm(chain, transaction)).rejects.toMatchObject({
      status: 403,
      onChainError: { program: MARKETPLACE_PROGRAM_ID.toBase58(), anchor_code: 6004 },
    });
    expect(state.sends).toBe(sends);
  });

  test('of a transaction whose blockhash has ended says that it is too old [TXN-23]', async () => {
    const { state, chain } = fakeChain();
    state.preflight = { error: 'BlockhashNotFound', logs: [] };
    expect(await submitAndConfirm(chain, transaction)).toBe('too_old');
    state.known = LANDED;
    expect(await submitAndConfirm(chain, transaction)).toBe('confirmed');
    expect(state.sends).toBe(0);
  });

  test('of a transaction that landed before reports its first result [TXN-4]', async () => {
    const { state, chain } = fakeChain();
    state.preflight = { error: 'AlreadyProcessed', logs: [] };
    state.known = LANDED;
    await submitAndConfirm(chain, transaction);
    state.known = { ...LANDED, err: refused };
    await expect(submitAndConfirm(chain, transaction)).rejects.toMatchObject({
      onChainError: { anchor_code: 6004 },
    });
    expect(state.sends).toBe(0);
  });
});
