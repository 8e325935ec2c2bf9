import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { Keypair, type SignatureStatus } from '@solana/web3.js';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Chain } from '../../chain/index.js';
import { ApiError } from '../../http/api-error.js';
import { openNotifications, type Notifications } from '../../database/notifications.js';
import { createDrain } from '../../http/drain.js';
import { deriveKeys } from '../../platform/keys.js';
import { sealPrivatePart } from '../../registration/index.js';
import {
  createChargeRepository,
  createChargeSigner,
  createReconciler,
  createSettlement,
} from '../../settlement/index.js';
import {
  balanceAddressOf,
  insertListing,
  newWallet,
  openTestDatabase,
  publishedListing,
  type TemporaryDatabase,
} from '../../testing/index.js';
import { createAttendance } from '../delivery/delivery-tracking.js';
import { createBeginnings } from './start-latency.js';
import { createCallers } from '../idempotency/waiting-callers.js';
import { createLiveRuns } from '../idempotency/live-runs.js';
import { createPastRuns } from '../history/past-runs.js';
import { createRepeats } from '../idempotency/repeated-requests.js';
import { createRunChanges } from '../idempotency/run-changes.js';
import { createRunRepository } from '../history/repository.js';
import { runTask, type RunTaskDeps, type TaskRequest } from './pipeline.js';
import { createSeatRepository } from '../queue/slot-repository.js';
import { createSeats } from '../queue/slots.js';

const logger = pino({ level: 'silent' });
const keys = deriveKeys(new Uint8Array(32).fill(9));
const PRICE = 1_000_000n;

let database: TemporaryDatabase;
let notifications: Notifications;
beforeAll(async () => {
  database = await openTestDatabase();
  notifications = await openNotifications(database.pool, 'late_charge_test', logger);
});
afterAll(async () => {
  await notifications.close();
  await database.close();
});

/** A chain on which nothing is confirmed while a caller waits; what becomes of it afterwards is `landed`. */
function slowChain(landed: () => Partial<SignatureStatus> | null): Chain {
  return {
    programId: MARKETPLACE_PROGRAM_ID,
    latestBlockhash: async () => ({
      blockhash: Keypair.generate().publicKey.toBase58(),
      lastValidBlockHeight: 100,
    }),
    simulate: async () => ({ error: null, logs: [] }),
    send: async () => undefined,
    waitForConfirmation: async () => null,
    blockHeight: async () => 1n,
    statuses: async (signatures: string[]) => signatures.map(() => landed() as SignatureStatus | null),
  } as unknown as Chain;
}

async function world(landed: () => Partial<SignatureStatus> | null) {
  const { db } = database;
  const row = await insertListing(db, { price_lamports: PRICE });
  const wallet = newWallet();
  const chain = slowChain(landed);
  await db
    .insertInto('balances')
    .values({
      address: balanceAddressOf(wallet, row.address),
      buyer: wallet,
      listing_address: row.address,
      balance_lamports: PRICE,
      max_price_lamports: PRICE,
      highest_sequence: 0n,
      window_bits: Buffer.alloc(32),
      slot: 1n,
    })
    .execute();
  const charges = createChargeRepository(db);
  const signer = createChargeSigner(chain, Keypair.generate(), Keypair.generate().publicKey);
  const indexer = { indexAccounts: async () => undefined } as never;
  const settlement = createSettlement({ chain, charges, signer, indexer });
  const runs = createRunRepository(db, keys);
  const changes = createRunChanges(notifications);
  const attendance = createAttendance(db);
  const listing = publishedListing(
    {
      id: row.version_id,
      privatePart: sealPrivatePart(keys, row.version_id, {
        mode: 'connected',
        entrypointUrl: 'https://agent.example/',
        webhookSecret: 'whsec_x',
        salt: 'x',
      }),
    },
    { id: row.id, address: row.address, rentalModel: 'per_query', priceLamports: PRICE },
  );
  const deps = {
    listings: { find: async () => listing },
    credentials: { indexedStatus: async () => 'active' },
    chain,
    settlement,
    runs,
    repeats: createRepeats(runs, attendance),
    attendance,
    callers: createCallers({ runs, attendance, changes, logger, graceMs: 20 }),
    live: createLiveRuns({ runs, changes, logger }),
    beginnings: createBeginnings(),
    changes,
    seats: createSeats({
      repository: createSeatRepository(db),
      changes,
      logger,
      line: { maxLength: 0, maxWaitMs: 1_000 },
    }),
    connected: { run: async () => ({ status: 'completed', output: { answer: 'because' } }) },
    keys,
    drain: createDrain(),
  } as unknown as RunTaskDeps;
  const never = new AbortController().signal;
  const request = {
    wallet,
    body: { agent_id: row.id, task: 'answer' },
    idempotencyKey: `late-${wallet}`,
    allowance: {
      requireListing: () => undefined,
      reserve: async () => undefined,
      release: async () => undefined,
    },
    countExecution: async () => undefined,
    caller: { gone: never, patienceMs: undefined, mayComeBack: true },
    logger,
  } as unknown as TaskRequest;
  const reconciler = createReconciler({
    chain,
    charges,
    signer,
    indexer,
    logger,
    onPaid: async (runId) => {
      await runs.finishHeld(runId);
      return runs.wasUndelivered(runId);
    },
    onUnpaid: (runId) => runs.dropHeld(runId, new ApiError('service_unavailable', 'It failed.')),
  });
  const pastRuns = createPastRuns({ runs, attendance, changes });
  return {
    execute: () => runTask(deps, request),
    /** As a client asks whose calls have no key that stays the same. */
    executeAgain: (onAdopted: () => void) =>
      runTask(deps, { ...request, idempotencyKey: `again-${wallet}`, onAdopted }),
    look: (runId: string) => pastRuns.find(runId, wallet, 0, never),
    reconcile: () => reconciler.reconcile(),
    hasCredit: () => settlement.hasCredit(wallet, row.id),
  };
}

const errorOf = (running: Promise<unknown>) =>
  running.then(
    () => expect.unreachable(),
    (error: unknown) => error as ApiError,
  );

it('a charge that is confirmed late is a 503 with the run, and then the result under its id and key [MON-7, RUN-20]', async () => {
  let status: Partial<SignatureStatus> | null = null;
  const { execute, look, reconcile, hasCredit } = await world(() => status);
  const error = await errorOf(execute());
  expect(error).toMatchObject({ status: 503, code: 'service_unavailable' });
  const runId = error.runId ?? '';
  expect(await look(runId)).toMatchObject({ run_id: runId, status: 'running' });
  await reconcile();
  expect(await look(runId)).toMatchObject({ status: 'running' });
  status = { err: null, confirmationStatus: 'confirmed' };
  await reconcile();
  const result = { status: 'completed', output: { answer: 'because' } };
  expect(await look(runId)).toMatchObject({ ...result, cost_lamports: Number(PRICE) });
  expect(await execute()).toMatchObject({ ...result, runId });
  expect(await hasCredit()).toBe(false);
});

it('a charge that is confirmed late is taken over by an equal request under another key, and not paid again [RUN-7]', async () => {
  let status: Partial<SignatureStatus> | null = null;
  const { execute, executeAgain, reconcile } = await world(() => status);
  const { runId } = await errorOf(execute());
  status = { err: null, confirmationStatus: 'confirmed' };
  await reconcile();
  let adopted = 0;
  expect(await executeAgain(() => (adopted += 1))).toMatchObject({ runId, status: 'completed' });
  expect(adopted).toBe(1);
});

it('a charge that fails in the end takes its result with it, and nothing is credited', async () => {
  let status: Partial<SignatureStatus> | null = null;
  const { execute, look, reconcile, hasCredit } = await world(() => status);
  const { runId = '' } = await errorOf(execute());
  status = { err: { InstructionError: [0, { Custom: 6003 }] }, confirmationStatus: 'finalized' };
  await reconcile();
  const ended = await look(runId);
  expect(ended).toMatchObject({ status: 'failed', cost_lamports: 0, error: { code: 'service_unavailable' } });
  expect(JSON.stringify(ended)).not.toContain('because');
  expect(await hasCredit()).toBe(false);
});
