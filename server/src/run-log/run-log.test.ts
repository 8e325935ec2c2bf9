import { NO_PREVIOUS_ROOT, runLogInstructions } from '@agent-rental/program-client';
import { Keypair, LAMPORTS_PER_SOL, Transaction } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../errors/api-error.js';
import { receiptOf } from '../runs/index.js';
import { receiptPayload } from '../settlement/index.js';
import { insertRun } from '../testing/index.js';
import { leafOf } from './merkle-tree.js';
import { createRunLog } from './run-log.js';
import {
  runLogWorld,
  startTestChain,
  type RunLogWorld,
  type TestLocalChain,
} from './run-log.test-support.js';

let local: TestLocalChain;
const worlds: RunLogWorld[] = [];
beforeAll(async () => {
  local = await startTestChain();
});
afterEach(async () => {
  for (const { database } of worlds.splice(0)) await database.close();
});
afterAll(() => local?.close());

async function world(options: Parameters<typeof runLogWorld>[1] = {}): Promise<RunLogWorld> {
  const made = await runLogWorld(local, options);
  worlds.push(made);
  return made;
}

describe('runs without a charge', () => {
  it('are in one batch in the order of their ends, which verifies their receipts [MON-8, MON-32]', async () => {
    const { endRun, settle, onChain, receipt, verify } = await world();
    const runs = [await endRun('completed'), await endRun('failed'), await endRun('undelivered')];
    await settle();
    const batches = await onChain();
    expect(batches).toMatchObject([{ batch: 1n, count: 3, previousRoot: NO_PREVIOUS_ROOT }]);
    for (const [leafIndex, run] of runs.entries()) {
      const { root, signature } = batches[0] ?? {};
      expect((await receipt(run)).log).toMatchObject({
        status: 'logged',
        batch: 1,
        leaf_index: leafIndex,
        root,
        signature,
      });
      expect(await verify(run)).toMatchObject({ ok: true, log: { by: 'run_log', leafIndex, count: 3 } });
    }
  });

  it('are verified by the evidence of the service, once it has it [SVC-23]', async () => {
    const { endRun, settle, verifyByEvidence } = await world();
    const run = await endRun();
    expect(await verifyByEvidence(run)).toMatchObject({ ok: false, part: 'log' });
    await settle();
    expect(await verifyByEvidence(run)).toMatchObject({ ok: true, log: { by: 'run_log', count: 1 } });
  });

  it('follow in the next batch, which names the root before [MON-8]', async () => {
    const { endRun, settle, onChain, verify } = await world();
    const runs: string[] = [];
    for (let batch = 0; batch < 3; batch += 1) {
      runs.push(await endRun());
      await settle();
    }
    const [first, second, third] = await onChain();
    expect([first?.batch, second?.batch, third?.batch]).toEqual([1n, 2n, 3n]);
    expect([second?.previousRoot, third?.previousRoot]).toEqual([first?.root, second?.root]);
    for (const run of runs) expect(await verify(run)).toMatchObject({ ok: true });
  });

  it('wait while the last batch is younger than the interval, and say when theirs is expected [MON-8, MON-32]', async () => {
    const { endRun, publisher, onChain, receipt, settle, db } = await world({ intervalSeconds: 3_600 });
    const first = await endRun();
    await settle();
    expect((await receipt(first)).log.status).toBe('logged');
    const run = await endRun();
    for (let rounds = 0; rounds < 3; rounds += 1) await publisher.round('all');
    expect(await onChain()).toHaveLength(1);
    const { log } = await receipt(run);
    const inSeconds = log.status === 'pending' ? (Date.parse(log.expected_at) - Date.now()) / 1_000 : NaN;
    expect(inSeconds).toBeGreaterThan(3_540);
    expect(inSeconds).toBeLessThan(3_640);
    await db
      .updateTable('run_log_batches')
      .set({ created_at: new Date(Date.now() - 3_601_000) })
      .execute();
    await settle();
    expect((await receipt(run)).log).toMatchObject({ status: 'logged', batch: 2 });
  });

  it('are not there: no batch is made, also not for runs that go on [MON-8]', async () => {
    const { publisher, onChain, db, listing, wallet } = await world();
    await insertRun(db, listing, wallet);
    for (let rounds = 0; rounds < 3; rounds += 1) await publisher.round('all');
    expect(await db.selectFrom('run_log_batches').selectAll().execute()).toEqual([]);
    expect(await onChain()).toEqual([]);
  });

  it('beyond the most of a batch go into the next ones, in the order of their ends [MON-8, MON-32]', async () => {
    const { endRun, settle, onChain, verify, receipt } = await world({ mostRuns: 230 });
    const runs: string[] = [];
    for (let count = 0; count < 500; count += 1) runs.push(await endRun());
    await settle();
    expect((await onChain()).map(({ count }) => count)).toEqual([230, 230, 40]);
    for (const index of [0, 99, 100, 229, 230, 459, 460, 499]) {
      const place = { batch: Math.floor(index / 230) + 1, leaf_index: index % 230 };
      expect((await receipt(runs[index] ?? '')).log).toMatchObject(place);
      expect(await verify(runs[index] ?? '')).toMatchObject({ ok: true });
    }
  });

  it('cost the authority 5,000 lamports a batch where no priority fee is asked for', async () => {
    const { endRun, settle, authority } = await world();
    const before = await local.connection.getBalance(authority.publicKey);
    for (let runs = 0; runs < 20; runs += 1) await endRun();
    await settle();
    expect(before - (await local.connection.getBalance(authority.publicKey))).toBe(5_000);
  });

  it('have no proof of a receipt that is not the one that was logged', async () => {
    const { endRun, settle, receipt, db } = await world();
    const run = await endRun();
    await settle();
    await db
      .updateTable('runs')
      .set({ output_digest: Buffer.alloc(32, 1) })
      .where('id', '=', run)
      .execute();
    await expect(receipt(run)).rejects.toThrow('not the one that was logged');
  });
});

describe('runs with a charge', () => {
  const STATES = ['reserved', 'signed', 'confirmed', 'finalized', 'failed', 'credited', 'lost'] as const;
  type State = (typeof STATES)[number];
  let sequence = 0n;

  async function chargedRun({ db, listing, wallet }: RunLogWorld, state: State): Promise<string> {
    const runId = await insertRun(db, listing, wallet);
    sequence += 1n;
    await db
      .insertInto('charges')
      .values({
        run_id: runId,
        wallet,
        listing_id: listing.id,
        balance_address: wallet,
        price_lamports: 1n,
        sequence,
        state,
      })
      .execute();
    return runId;
  }
  const end = ({ db }: RunLogWorld, run: string, status: 'completed' | 'undelivered') =>
    db.updateTable('runs').set({ status, finished_at: new Date() }).where('id', '=', run).execute();
  const become = ({ db }: RunLogWorld, run: string, state: State) =>
    db.updateTable('charges').set({ state }).where('run_id', '=', run).execute();
  const isLogged = async ({ db }: RunLogWorld, run: string) =>
    (await db
      .selectFrom('run_log_entries')
      .select('run_id')
      .where('run_id', '=', run)
      .where('batch', 'is not', null)
      .executeTakeFirst()) !== undefined;

  it.each([
    ['confirmed', 'finalized', false],
    ['confirmed', 'credited', false],
    ['signed', 'confirmed', false],
    ['signed', 'finalized', false],
    ['signed', 'failed', true],
    ['confirmed', 'lost', true],
    ['confirmed', 'failed', true],
    ['reserved', 'reserved', false],
  ] as const)(
    'whose charge was %s when they ended and is %s: in a batch is %s [MON-8]',
    async (was, is, logged) => {
      const all = await world();
      const run = await chargedRun(all, was);
      await end(all, run, was === 'signed' ? 'undelivered' : 'completed');
      await all.publisher.round('all');
      expect(await isLogged(all, run)).toBe(false);
      await become(all, run, is);
      await all.publisher.round('all');
      expect(await isLogged(all, run)).toBe(logged);
    },
  );

  it('that failed before the run ended are in a batch once it has ended [MON-8]', async () => {
    const all = await world();
    const run = await chargedRun(all, 'signed');
    await become(all, run, 'failed');
    await all.publisher.round('all');
    expect(await isLogged(all, run)).toBe(false);
    await end(all, run, 'undelivered');
    await all.publisher.round('all');
    expect(await isLogged(all, run)).toBe(true);
  });

  it('do not wait for ever in the log: a final charge takes its run out [MON-8]', async () => {
    const all = await world();
    const run = await chargedRun(all, 'signed');
    await end(all, run, 'undelivered');
    await become(all, run, 'finalized');
    await all.publisher.round('all');
    expect(await all.db.selectFrom('run_log_entries').selectAll().execute()).toEqual([]);
  });
});

describe('a batch', () => {
  it('that a fork drops is sent again with the same bytes [MON-32]', async () => {
    const { endRun, publisher, onChain, db, verify } = await world();
    const run = await endRun();
    await publisher.round('all');
    const [sent] = await db.selectFrom('run_log_signatures').selectAll().execute();
    await local.rpc('localchain_fork', { dropSignatures: [sent?.signature] });
    await publisher.round('all');
    await local.finalize();
    await publisher.round('all');
    expect(await onChain()).toMatchObject([{ batch: 1n, signature: sent?.signature }]);
    expect(await db.selectFrom('run_log_signatures').selectAll().execute()).toHaveLength(1);
    expect(await verify(run)).toMatchObject({ ok: true });
  });

  it('that never landed is signed anew once it no longer can, over the same root [MON-32]', async () => {
    const { endRun, newPublisher, onChain, db, publisher, settle } = await world();
    await endRun();
    // Sent transactions get lost on the way.
    const silent = newPublisher((parts) => ({
      ...parts,
      chain: { ...parts.chain, send: async () => undefined },
    }));
    await silent.round('all');
    await silent.round('all');
    expect(await db.selectFrom('run_log_signatures').selectAll().execute()).toHaveLength(1);
    // Past its last block, and not finally so: it may have landed in a block that this endpoint has not seen.
    await local.warp(160);
    await silent.round('all');
    expect(await db.selectFrom('run_log_signatures').selectAll().execute()).toHaveLength(1);
    await local.warp(40);
    await endRun();
    await publisher.round('all');
    expect(await db.selectFrom('run_log_signatures').selectAll().execute()).toHaveLength(2);
    await settle();
    const batches = await onChain();
    expect(batches.map(({ batch, count }) => [batch, count])).toEqual([
      [1n, 1],
      [2n, 1],
    ]);
  });

  it('is delayed by a chain that cannot be reached, and nothing of it is lost [MON-32]', async () => {
    const { endRun, newPublisher, onChain, receipt, settle, verify } = await world();
    const runs = [await endRun(), await endRun()];
    let calls = 0;
    const down = async (): Promise<never> => {
      calls += 1;
      throw new ApiError('service_unavailable', 'The chain cannot be reached at the moment.');
    };
    const cut = newPublisher((parts) => ({
      ...parts,
      chain: { blockHeight: down, statuses: down, send: down, simulate: down },
    }));
    for (let rounds = 0; rounds < 4; rounds += 1) await cut.round('all').catch(() => undefined);
    expect(calls).toBeGreaterThan(2);
    for (const run of runs) expect((await receipt(run)).log.status).toBe('pending');
    await settle();
    expect(await onChain()).toMatchObject([{ batch: 1n, count: 2 }]);
    for (const run of runs) expect(await verify(run)).toMatchObject({ ok: true });
  });

  it('that another replica signs at the same time has one transaction [MON-32]', async () => {
    const { endRun, newPublisher, onChain, db, publisher, settle } = await world();
    await endRun();
    const sent: Uint8Array[] = [];
    const late = newPublisher((parts) => ({
      ...parts,
      chain: { ...parts.chain, send: async (signedBytes) => void sent.push(signedBytes) },
      signer: {
        ...parts.signer,
        async sign(batch) {
          await publisher.round('all');
          return parts.signer.sign(batch);
        },
      },
    }));
    await late.round('all');
    expect(await db.selectFrom('run_log_signatures').selectAll().execute()).toHaveLength(1);
    expect(sent).toEqual([]);
    await settle();
    expect(await onChain()).toHaveLength(1);
  });

  it('is made by one replica of several that try at once [MON-32]', async () => {
    const { endRun, newPublisher, onChain, db } = await world();
    for (let batch = 0; batch < 5; batch += 1) {
      for (let runs = 0; runs < 10; runs += 1) await endRun();
      await Promise.all(
        Array.from({ length: 6 }, () =>
          newPublisher()
            .round('all')
            .catch(() => undefined),
        ),
      );
      await local.finalize();
      await Promise.all(
        Array.from({ length: 6 }, () =>
          newPublisher()
            .round('all')
            .catch(() => undefined),
        ),
      );
    }
    await local.finalize();
    await newPublisher().round('all');
    const batches = await onChain();
    expect(batches.map(({ batch }) => batch)).toEqual(batches.map((_, index) => BigInt(index + 1)));
    expect(batches.reduce((runs, { count }) => runs + count, 0)).toBe(50);
    const entries = await db.selectFrom('run_log_entries').select(['batch', 'leaf_index']).execute();
    expect(new Set(entries.map(({ batch, leaf_index: place }) => `${batch} ${place}`)).size).toBe(50);
  });
});

describe('a database that is older than the chain', () => {
  /** As after a restore: the newer rows of the log are gone. */
  async function restore({ db }: RunLogWorld, newest: bigint): Promise<void> {
    await db.deleteFrom('run_log_signatures').where('batch', '>', newest).execute();
    await db.deleteFrom('run_log_batches').where('number', '>', newest).execute();
    await db
      .updateTable('run_log_entries')
      .set({ batch: null, leaf_index: null })
      .where('batch', '>', newest)
      .execute();
  }

  it.each([0n, 1n, 2n])(
    'of which it knows %s of three batches goes on after the third: no number has two roots [MON-32]',
    async (newest) => {
      const all = await world();
      for (let batch = 0; batch < 3; batch += 1) {
        await all.endRun();
        await all.settle();
      }
      await restore(all, newest);
      const run = await all.endRun();
      await all.settle();
      const batches = await all.onChain();
      expect(batches.map(({ batch }) => batch)).toEqual([1n, 2n, 3n, 4n]);
      expect(batches[3]).toMatchObject({ count: 4 - Number(newest), previousRoot: batches[2]?.root });
      expect(await all.verify(run)).toMatchObject({ ok: true, log: { batch: 4n } });
    },
  );

  it('takes no number from a memo that another key has signed [MON-32]', async () => {
    const all = await world();
    const stranger = Keypair.generate();
    await local.connection.requestAirdrop(stranger.publicKey, LAMPORTS_PER_SOL);
    const forged = { batch: 900n, count: 1, previousRoot: 'a'.repeat(64), root: 'b'.repeat(64) };
    const { blockhash } = await local.connection.getLatestBlockhash();
    const transaction = new Transaction({
      feePayer: stranger.publicKey,
      recentBlockhash: blockhash,
    } as never);
    transaction.add(...runLogInstructions(forged, stranger.publicKey, all.programId)).sign(stranger);
    await local.connection.sendRawTransaction(transaction.serialize());
    await local.finalize();
    await all.endRun();
    await all.settle();
    expect((await all.onChain()).map(({ batch }) => batch)).toEqual([900n, 1n]);
  });
});

it('the receipt of a logged run never changes: its payload is pinned to the byte [MON-32, EXE-100]', () => {
  const row = {
    id: '0f8fad5b-d9cb-469f-a165-70867728950e',
    wallet: 'So11111111111111111111111111111111111111112',
    listing_id: 'expense-reader-k3x7qa',
    status: 'completed',
    input_digest: Buffer.alloc(32, 1),
    output_digest: null,
    created_at: new Date('2026-01-05T10:00:00.123Z'),
    finished_at: new Date('2026-01-05T10:00:01.000Z'),
    is_trial: false,
    number: 2,
    change_kind: 'breaking',
  } as const;
  const origin = { network: 'devnet', program_id: 'Program' } as const;
  const payloadOf = (version: 1 | 2) => receiptPayload(receiptOf(row, undefined, origin, version)).toString();
  const pinned = (version: 1 | 2 | 3, last: string) =>
    `{"version":${version},"run_id":"0f8fad5b-d9cb-469f-a165-70867728950e",` +
    '"wallet":"So11111111111111111111111111111111111111112","listing_id":"expense-reader-k3x7qa",' +
    '"status":"completed","cost_lamports":0,"charge_signature":null,"credited":false,"network":"devnet",' +
    `"program_id":"Program","input_digest":"${'01'.repeat(32)}","output_digest":null,` +
    `"started_at":"2026-01-05T10:00:00.123Z","finished_at":"2026-01-05T10:00:01.000Z"${last}}`;
  expect(payloadOf(1)).toBe(pinned(1, ''));
  expect(payloadOf(2)).toBe(pinned(2, ',"agent_version":2,"version_change":"breaking"'));
  // Only a free trial is of version 3.
  expect(receiptPayload(receiptOf(row, undefined, origin)).toString()).toBe(payloadOf(2));
  expect(receiptPayload(receiptOf({ ...row, is_trial: true }, undefined, origin)).toString()).toBe(
    pinned(3, ',"agent_version":2,"version_change":"breaking","trial":true'),
  );
});

it('the receipt of a run that an older release logged is given as it was logged [MON-32]', async () => {
  const receipt = new TextEncoder().encode('as it was');
  const log = createRunLog({
    placeOf: async () => ({
      is: 'logged',
      batch: 1n,
      count: 1,
      leafIndex: 0,
      previousRoot: Buffer.alloc(32),
      root: Buffer.alloc(32),
      signature: 's',
    }),
    nodes: async () => [leafOf(receipt)],
  });
  const present = new TextEncoder().encode('as it is now');
  expect(await log.entryOf('run', [present, receipt])).toMatchObject({ logged: 1 });
  await expect(log.entryOf('run', [present])).rejects.toThrow('not the one that was logged');
});
