import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalChain, type LocalChain } from '@agent-rental/local-chain';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { onlyFor, rpcFaults, startHostileRpc, type HostileRpc, type RpcFault } from '../../testing/index.js';
import { createChain, createChainOn, type Chain } from '../chain.js';
import { createCrossCheckedSource } from './cross-checked.js';

let folder: string;
let localChain: LocalChain;
let connection: Connection;
const payer = Keypair.generate();
const opened: HostileRpc[] = [];
let first: HostileRpc;
let second: HostileRpc;
let chain: Chain;
/** The clock of health and waits, which only tests move. */
let nowMs: number;
let logged: { level: string; fields: object; text: string }[];

/** Logs to the present test: open calls of an earlier one go to its own list. */
function testLogger(lines = logged): Parameters<typeof createCrossCheckedSource>[1] {
  const at = (level: string) => (fields: object, text: string) => void lines.push({ level, fields, text });
  return { info: at('info'), warn: at('warn'), error: at('error') } as never;
}

function chainOf(...proxies: HostileRpc[]): Chain {
  const urls = proxies.map(({ url }) => url);
  const source = createCrossCheckedSource(urls, testLogger(), {
    now: () => nowMs,
    random: () => 0.5,
    patienceMs: 1_000,
  });
  return createChainOn(source, MARKETPLACE_PROGRAM_ID);
}

async function open(): Promise<HostileRpc> {
  const proxy = await startHostileRpc(localChain.rpcUrl);
  opened.push(proxy);
  return proxy;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'endpoints-'));
  localChain = await startLocalChain({
    stateDir: folder,
    rpcPort: 0,
    testHooks: true,
    consensus: 'tower',
    programs: [],
  });
  connection = new Connection(localChain.rpcUrl, 'confirmed');
  const signature = await connection.requestAirdrop(payer.publicKey, 100 * LAMPORTS_PER_SOL);
  await vi.waitUntil(async () => (await connection.getSignatureStatus(signature)).value !== null);
});
afterAll(async () => {
  await localChain?.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  nowMs = 1_000_000;
  logged = [];
  [first, second] = [await open(), await open()];
  chain = chainOf(first, second);
});
afterEach(async () => {
  for (const proxy of opened.splice(0)) await proxy.close();
});

/** A transfer that is not sent yet. */
async function transfer(from = payer) {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash('confirmed');
  const message = new TransactionMessage({
    payerKey: from.publicKey,
    recentBlockhash: blockhash,
    instructions: [
      SystemProgram.transfer({
        fromPubkey: from.publicKey,
        toPubkey: Keypair.generate().publicKey,
        lamports: LAMPORTS_PER_SOL / 100,
      }),
    ],
  }).compileToV0Message();
  const transaction = new VersionedTransaction(message);
  transaction.sign([from]);
  const [signature] = transaction.signatures;
  return {
    signedBytes: transaction.serialize(),
    signature: bs58.encode(signature as Uint8Array),
    lastValidBlockHeight,
  };
}

/** Whether a wait has ended after the endpoints were asked several times. */
async function endsWithinPolls(waiting: Promise<unknown>, polls = 4): Promise<boolean> {
  let hasEnded = false;
  void waiting.then(() => (hasEnded = true));
  const asked = () => first.calls.filter((method) => method === 'getSignatureStatuses').length;
  const until = asked() + polls;
  await vi.waitUntil(() => hasEnded || asked() >= until, { timeout: 15_000 });
  return hasEnded;
}

const statusesFail = (fault: RpcFault) => onlyFor(['getSignatureStatuses'], fault);
const FAILED = { InstructionError: [0, { Custom: 1 }] };
const patience = () => new AbortController();

describe('confirmations are cross-checked', () => {
  it.each([
    ['the first', () => first, 'confirmed'],
    ['the second', () => second, 'confirmed'],
    ['the first', () => first, 'finalized'],
  ] as const)('a transaction that %s endpoint alone calls confirmed is not', async (_, liar, level) => {
    const { signature, lastValidBlockHeight } = await transfer();
    liar().fault = rpcFaults.claims(level);
    const giveUp = patience();
    const waiting = chain.waitForConfirmation(signature, lastValidBlockHeight, giveUp.signal);
    expect(await endsWithinPolls(waiting)).toBe(false);
    // Time alone does not make it true, while the other endpoint answers.
    nowMs += 60_000;
    expect(await endsWithinPolls(waiting)).toBe(false);
    giveUp.abort();
    expect(await waiting).toBeNull();
    expect(await chain.statuses([signature], true)).toMatchObject([
      { confirmationStatus: 'processed', err: null },
    ]);
  });

  it('one that both call confirmed is [MON-40]', async () => {
    const { signature, signedBytes, lastValidBlockHeight } = await transfer();
    await chain.send(signedBytes);
    const waiting = chain.waitForConfirmation(signature, lastValidBlockHeight, patience().signal);
    expect(await waiting).toMatchObject({ err: null, confirmationStatus: 'confirmed' });
  });

  it('a confirmation waits for the second endpoint, which is a moment behind', async () => {
    const { signature, signedBytes, lastValidBlockHeight } = await transfer();
    second.fault = rpcFaults.knowsNone;
    await chain.send(signedBytes);
    const waiting = chain.waitForConfirmation(signature, lastValidBlockHeight, patience().signal);
    expect(await endsWithinPolls(waiting)).toBe(false);
    second.fault = undefined;
    expect(await waiting).toMatchObject({ confirmationStatus: 'confirmed' });
  });

  it('a transaction that landed is not failed because one endpoint says so, first and last', async () => {
    const { signature, signedBytes } = await transfer();
    for (const liar of [first, second]) {
      liar.fault = rpcFaults.claims('finalized', FAILED);
      expect(await chain.statuses([signature], true)).toMatchObject([
        { err: null, confirmationStatus: 'processed' },
      ]);
      liar.fault = undefined;
    }
    first.fault = rpcFaults.claims('finalized', FAILED);
    await chain.send(signedBytes);
    const giveUp = patience();
    const waiting = chain.waitForConfirmation(signature, 10 ** 9, giveUp.signal);
    expect(await endsWithinPolls(waiting)).toBe(false);
    first.fault = undefined;
    expect(await waiting).toMatchObject({ err: null, confirmationStatus: 'confirmed' });
  });

  it('a failure that both tell is one', async () => {
    const { signature } = await transfer();
    first.fault = rpcFaults.claims('confirmed', FAILED);
    second.fault = rpcFaults.claims('finalized', FAILED);
    expect(await chain.statuses([signature])).toMatchObject([
      { err: FAILED, confirmationStatus: 'confirmed' },
    ]);
  });

  it('endpoints that do not agree for 10 s are named in the log once, without their addresses', async () => {
    const { signature } = await transfer();
    first.fault = rpcFaults.claims('confirmed');
    await chain.statuses([signature]);
    nowMs += 11_000;
    await chain.statuses([signature]);
    await chain.statuses([signature]);
    const disputes = logged.filter(({ level }) => level === 'error');
    expect(disputes).toHaveLength(1);
    expect(disputes[0]?.fields).toMatchObject({ signature });
    expect(disputes[0]?.fields).toMatchObject({
      says: { [new URL(first.url).host]: 'confirmed', [new URL(second.url).host]: 'unknown' },
    });
    expect(chain.endpointStats().disputes).toBe(1);
    expect(JSON.stringify(logged)).not.toContain('secret');
  });

  it('of three endpoints two outvote one', async () => {
    const third = await open();
    chain = chainOf(first, second, third);
    const { signature, signedBytes, lastValidBlockHeight } = await transfer();
    first.fault = rpcFaults.knowsNone;
    await chain.send(signedBytes);
    expect(await chain.waitForConfirmation(signature, lastValidBlockHeight, patience().signal)).toMatchObject(
      { confirmationStatus: 'confirmed' },
    );
  });
});

describe('an endpoint that is lost does not stop the others', () => {
  it('a confirmation by one alone counts once the other has been out for 5 s, and is never final [MON-40]', async () => {
    const { signature, signedBytes, lastValidBlockHeight } = await transfer();
    second.fault = rpcFaults.serverError;
    first.fault = rpcFaults.claims('finalized');
    await chain.send(signedBytes).catch(() => undefined);
    const waiting = chain.waitForConfirmation(signature, lastValidBlockHeight, patience().signal);
    expect(await endsWithinPolls(waiting)).toBe(false);
    nowMs += 5_000;
    expect(await waiting).toMatchObject({ err: null, confirmationStatus: 'confirmed' });
    // Nor does one alone say that a transaction failed or can land no more.
    first.fault = rpcFaults.claims('finalized', FAILED);
    expect(await chain.statuses([signature])).toMatchObject([{ err: null, confirmationStatus: 'processed' }]);
    expect(await chain.blockHeight('finalized')).toBe(0n);
  });

  it('just after one of two was lost, the other alone does not say that a transaction left no trace', async () => {
    const { signature } = await transfer();
    expect(await chain.statuses([signature], true)).toEqual([null]);
    second.fault = rpcFaults.serverError;
    await expect(chain.statuses([signature], true)).rejects.toMatchObject({ code: 'service_unavailable' });
    nowMs += 20_000;
    expect(await chain.statuses([signature], true)).toEqual([null]);
  });

  it.each([
    ['answers 502', rpcFaults.serverError, 'status 502'],
    ['answers 429', rpcFaults.tooManyRequests(7), 'status 429'],
    ['answers half a body', rpcFaults.halfABody, 'unreachable'],
    ['answers other text than JSON', rpcFaults.notJson, 'not JSON'],
    ['answers another request', rpcFaults.wrongId, 'the answer to another request'],
    ['answers in another form', rpcFaults.wrongForm, 'a malformed answer'],
    ['says that it is behind', rpcFaults.unhealthy, 'error -32005'],
    ['refuses what every node answers', rpcFaults.refuses(-32_601), 'error -32601'],
    ['never answers', rpcFaults.neverAnswers, 'too slow'],
  ] as const)('one that %s is left for the other, and is back when it is well', async (_, fault, reason) => {
    first.fault = fault;
    await chain.requireOneCluster().catch(() => undefined);
    const reads = () => chain.getAccounts([payer.publicKey]);
    expect((await reads()).accounts).toHaveLength(1);
    expect(logged[0]).toMatchObject({ level: 'warn', fields: { reason } });
    // It gets no call before its backoff ends, however many are made meanwhile.
    const before = first.calls.length;
    await Promise.all(Array.from({ length: 20 }, reads));
    expect(first.calls.length).toBe(before);
    expect(chain.endpointStats().endpoints).toMatchObject([
      { isInUse: false, isChosen: false, failures: 1 },
      { isInUse: true, isChosen: true, failures: 0 },
    ]);
    first.fault = undefined;
    nowMs += 10_000;
    await Promise.all(Array.from({ length: 20 }, reads));
    await vi.waitUntil(() => chain.endpointStats().endpoints[0]?.isInUse);
    // Its return took one probe.
    expect(first.calls.length - before).toBeLessThanOrEqual(2);
    expect(logged.at(-1)).toMatchObject({ level: 'info', text: 'an RPC endpoint is in use again' });
    expect(JSON.stringify(logged)).not.toContain('secret');
  });

  it('one that asks to be left alone is, for as long as it asks', async () => {
    const requests = () => chain.endpointStats().endpoints[0]?.requests;
    first.fault = rpcFaults.tooManyRequests(30);
    await chain.getAccounts([payer.publicKey]);
    await vi.waitUntil(() => chain.endpointStats().endpoints[0]?.isInUse === false);
    first.fault = undefined;
    const before = requests();
    nowMs += 29_000;
    await chain.getAccounts([payer.publicKey]);
    expect(requests()).toBe(before);
    nowMs += 2_000;
    await chain.getAccounts([payer.publicKey]);
    await vi.waitUntil(() => chain.endpointStats().endpoints[0]?.isInUse);
  });

  it('the backoff doubles while the probes fail', async () => {
    const reads = async () =>
      void (await Promise.all([1, 2].map(() => chain.getAccounts([payer.publicKey]))));
    first.fault = rpcFaults.serverError;
    await reads();
    for (const backoffMs of [500, 1_000, 2_000, 4_000]) {
      const before = first.calls.length;
      nowMs += backoffMs - 1;
      await reads();
      expect(first.calls.length).toBe(before);
      nowMs += 1;
      const probed = first.nextCall('getGenesisHash');
      await reads();
      await probed;
      // The probe's answer comes before theirs.
      await reads();
    }
  });

  it('while none is in use, calls fail at once and say when to come back', async () => {
    first.fault = rpcFaults.serverError;
    second.fault = rpcFaults.serverError;
    await expect(chain.getAccounts([payer.publicKey])).rejects.toMatchObject({ code: 'service_unavailable' });
    const before = [first.calls.length, second.calls.length];
    await expect(chain.getAccounts([payer.publicKey])).rejects.toMatchObject({ retryAfterSeconds: 2 });
    expect([first.calls.length, second.calls.length]).toEqual(before);
  });

  it('answers that come late and twice confirm what landed, once', async () => {
    let release: () => void = () => undefined;
    const until = new Promise<void>((resolve) => (release = resolve));
    first.fault = rpcFaults.twice;
    second.fault = onlyFor(['sendTransaction', 'getSignatureStatuses'], rpcFaults.late(until));
    const { signature, signedBytes, lastValidBlockHeight } = await transfer();
    const before = await connection.getBalance(payer.publicKey);
    const asked = second.nextCall('getSignatureStatuses');
    await chain.send(signedBytes);
    const waiting = chain.waitForConfirmation(signature, lastValidBlockHeight, patience().signal);
    await asked;
    release();
    expect(await waiting).toMatchObject({ err: null, confirmationStatus: 'confirmed' });
    expect(before - (await connection.getBalance(payer.publicKey))).toBe(LAMPORTS_PER_SOL / 100 + 5_000);
  });

  it('answers that overtake each other reach those who asked', async () => {
    const [sent, unsent] = [await transfer(), await transfer()];
    await chain.send(sent.signedBytes);
    first.fault = onlyFor(['getSignatureStatuses'], rpcFaults.outOfOrder());
    const statuses = await Promise.all([sent, unsent].map(({ signature }) => chain.statuses([signature])));
    expect(statuses).toMatchObject([[{ confirmationStatus: 'confirmed' }], [null]]);
  });

  it('a fault of the statuses alone does not keep confirmations waiting for ever', async () => {
    second.fault = statusesFail(rpcFaults.serverError);
    const { signature, signedBytes, lastValidBlockHeight } = await transfer();
    await chain.send(signedBytes);
    const waiting = chain.waitForConfirmation(signature, lastValidBlockHeight, patience().signal);
    expect(await endsWithinPolls(waiting)).toBe(false);
    // Probes bring it back into use; its word is still missing.
    nowMs += 2_000;
    expect(await endsWithinPolls(waiting)).toBe(false);
    nowMs += 3_000;
    expect(await waiting).toMatchObject({ confirmationStatus: 'confirmed' });
  });
});

describe('transactions go to every endpoint', () => {
  it.each([
    ['first', () => first],
    ['second', () => second],
  ] as const)('so that the %s may forget them [MON-40]', async (_, forgetful) => {
    forgetful().fault = rpcFaults.forgetsSent;
    const { signature, signedBytes, lastValidBlockHeight } = await transfer();
    await chain.send(signedBytes);
    expect(await chain.waitForConfirmation(signature, lastValidBlockHeight, patience().signal)).toMatchObject(
      { confirmationStatus: 'confirmed' },
    );
    for (const proxy of [first, second]) expect(proxy.calls).toContain('sendTransaction');
  });

  it('a simulation that one endpoint refuses counts as refused only if the other refuses it too', async () => {
    first.fault = onlyFor(['simulateTransaction'], async (call) => {
      const answer = await call.forward();
      return { ...answer, result: { ...(answer.result as object), value: { err: FAILED, logs: [] } } };
    });
    const { signedBytes } = await transfer();
    const { message } = VersionedTransaction.deserialize(signedBytes);
    expect((await chain.simulate(message as never)).error).toBeNull();
    expect(await chain.preflight(signedBytes)).toBeNull();
    const poor = VersionedTransaction.deserialize((await transfer(Keypair.generate())).signedBytes);
    expect((await chain.simulate(poor.message as never)).error).not.toBeNull();
  });
});

describe('reads never go back', () => {
  it('an endpoint at an older slot waits or is passed over, also when it does not know that it is behind [MON-40]', async () => {
    const { slot } = await chain.getAccounts([payer.publicKey]);
    first.fault = rpcFaults.serverError;
    second.fault = rpcFaults.standsAt(Number(slot) - 5);
    const reading = chain.getAccounts([payer.publicKey]);
    await second.nextCall('getMultipleAccounts');
    await second.nextCall('getMultipleAccounts');
    second.fault = undefined;
    expect((await reading).slot).toBeGreaterThanOrEqual(slot);
  });

  it('where none has reached the slot in time, the read fails', async () => {
    const { slot } = await chain.getAccounts([payer.publicKey]);
    first.fault = rpcFaults.serverError;
    second.fault = rpcFaults.standsAt(Number(slot) - 5);
    const reading = chain.getAccounts([payer.publicKey]);
    reading.catch(() => undefined);
    await second.nextCall('getMultipleAccounts');
    nowMs += 10_000;
    await expect(reading).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  it('an endpoint that is behind and does not move is left, and is back when it has caught up', async () => {
    const slot = await connection.getSlot('confirmed');
    first.fault = rpcFaults.standsAt(slot - 40);
    const { signature } = await transfer();
    for (let seconds = 0; seconds <= 12; seconds += 3) {
      nowMs += 3_000;
      await chain.statuses([signature]);
    }
    await vi.waitUntil(() => chain.endpointStats().endpoints[0]?.isInUse === false);
    expect(logged).toMatchObject([{ fields: { reason: 'its slot does not move' } }]);
    first.fault = undefined;
    nowMs += 10_000;
    await vi.waitUntil(async () => {
      await chain.finalizedSlot();
      return chain.endpointStats().endpoints[0]?.isInUse;
    });
  });

  it('one that claims to be far ahead does not keep the other out', async () => {
    second.fault = rpcFaults.serverError;
    await chain.statuses([(await transfer()).signature]);
    expect(chain.endpointStats().endpoints[1]?.isInUse).toBe(false);
    second.fault = undefined;
    first.fault = rpcFaults.standsAt(1_000_000_000);
    await chain.statuses([(await transfer()).signature]);
    const slot = await connection.getSlot('confirmed');
    await vi.waitUntil(async () => (await connection.getSlot('confirmed')) > slot + 1);
    nowMs += 10_000;
    await vi.waitUntil(async () => {
      await chain.finalizedSlot();
      return chain.endpointStats().endpoints[1]?.isInUse;
    });
  });

  it('a slot of the far future does not make the others look old', async () => {
    await chain.getAccounts([payer.publicKey]);
    first.fault = rpcFaults.shows((_, real) => real, 1_000_000_000);
    await chain.getAccounts([payer.publicKey]);
    first.fault = rpcFaults.serverError;
    expect((await chain.getAccounts([payer.publicKey])).slot).toBeLessThan(1_000_000_000n);
  });
});

describe('access is read from two endpoints', () => {
  const rich = {
    lamports: 1,
    owner: MARKETPLACE_PROGRAM_ID.toBase58(),
    executable: false,
    data: ['AQ==', 'base64'],
  };

  it('so that a fabricated account is seen beside the other [MON-40]', async () => {
    first.fault = rpcFaults.shows(() => rich);
    const { accounts, second: other } = await chain.getAccountsOfTwo([Keypair.generate().publicKey]);
    expect([accounts[0], other?.accounts[0]].filter((account) => account !== null)).toHaveLength(1);
  });

  it('a lost second endpoint is waited for, then one is enough; a comparison always needs two', async () => {
    second.fault = rpcFaults.serverError;
    const reading = chain.getAccountsOfTwo([payer.publicKey]);
    await first.nextCall('getMultipleAccounts');
    await first.nextCall('getMultipleAccounts');
    nowMs += 5_000;
    expect((await reading).second).toBeUndefined();
    const comparing = chain.getAccountsOfTwo([payer.publicKey], 1n);
    comparing.catch(() => undefined);
    await first.nextCall('getMultipleAccounts');
    nowMs += 10_000;
    await expect(comparing).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});

describe('endpoints are of one cluster', () => {
  it('at the start two clusters are refused, with their hosts and without their keys [MON-40]', async () => {
    await expect(chain.requireOneCluster()).resolves.toMatch(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
    second.fault = rpcFaults.otherCluster;
    const refused = await chain.requireOneCluster().catch((error: unknown) => String(error));
    expect(refused).toContain(`the hash of ${new URL(second.url).host} is So111`);
    expect(refused).not.toContain('secret');
  });

  it('one that could not be asked then is asked before it is used', async () => {
    second.fault = rpcFaults.serverError;
    await chain.requireOneCluster();
    second.fault = rpcFaults.otherCluster;
    nowMs += 10_000;
    await chain.finalizedSlot();
    await vi.waitUntil(() => logged.some(({ level }) => level === 'error'));
    expect(chain.endpointStats().endpoints[1]?.isInUse).toBe(false);
  });
});

it('one endpoint is asked once for each call, and its word is final [MON-40]', async () => {
  const alone = createChain(first.url, MARKETPLACE_PROGRAM_ID);
  await alone.requireOneCluster();
  first.fault = rpcFaults.claims('finalized');
  expect(await alone.statuses(['1'.repeat(64)], true)).toMatchObject([{ confirmationStatus: 'finalized' }]);
  await alone.getAccountsOfTwo([payer.publicKey]);
  expect(first.calls).toEqual([
    'getGenesisHash',
    'getSignatureStatuses',
    'getAgGenesisCert',
    'getMultipleAccounts',
  ]);
  expect(alone.endpointStats()).toEqual({ endpoints: [], disputes: 0 });
});
