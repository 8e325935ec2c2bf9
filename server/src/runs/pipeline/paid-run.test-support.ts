import {
  ACCESS_CREDENTIAL_OFFSETS,
  LISTING_OFFSETS,
  MARKETPLACE_PROGRAM_ID,
} from '@agent-rental/program-client';
import { SandboxFaultError } from '@agent-rental/sandbox';
import { Keypair, type PublicKey, type SignatureStatus } from '@solana/web3.js';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll } from 'vitest';
import {
  createKeypairSigner,
  type AuthoritySigner,
  type Chain,
  type Funds,
  type ProtocolTerms,
} from '../../chain/index.js';
import { ApiError } from '../../errors/api-error.js';
import type { IndexedRental } from '../../listings/index.js';
import { openNotifications, type Notifications } from '../../database/notifications.js';
import { createDrain } from '../../platform/drain.js';
import { deriveKeys } from '../../platform/keys.js';
import { sealPrivatePart } from '../../registration/index.js';
import {
  createChargeRepository,
  createChargeSigner,
  createChargeStates,
  createCredits,
  createReconciler,
  createSettlement,
} from '../../settlement/index.js';
import {
  type TemporaryDatabase,
  insertBalance,
  insertListing,
  loginOf,
  newWallet,
  openTestDatabase,
  programAccount,
  publishedListing,
} from '../../testing/index.js';
import type { AgentContact } from '../agents/contact.js';
import { createAgentContacts } from '../agents/contacts.js';
import { createNotedCounts } from '../history/noted-counts.js';
import { createTrials } from '../trials/trials.js';
import { AgentUnreachableError, type AgentOutcome } from '../agents/outcome.js';
import { createCallerCounts } from '../history/caller-counts.js';
import { createKeyTurns } from '../calls/key-turns.js';
import { createStartGate } from '../start-gate.js';
import { createWaitingCallers } from '../calls/waiting-callers.js';
import { createLiveRuns } from '../live/live-runs.js';
import type { OutputSink } from '../delivery/output-gate.js';
import { createPastRuns } from '../history/past-runs.js';
import { createRunProgress } from '../history/run-progress.js';
import { createRunChanges } from '../live/run-changes.js';
import { createRunRepository, type RunRepository } from '../history/repository.js';
import { memoryRateLimits } from '../../rate-limits/memory.js';
import { runTask } from './pipeline.js';
import type { RunTaskDeps, TaskRequest } from './request.js';
import { createSlotRepository } from '../queue/slot-repository.js';
import { createSlots } from '../queue/slots.js';

const logger = pino({ level: 'silent' });
const keys = deriveKeys(new Uint8Array(32).fill(9));

/** The price of a run, and the lamports of a new balance unless the test says otherwise. */
export const PRICE = 1_000_000n;

/** How the agent of a test works. */
export type AgentWork = (options: {
  contact: AgentContact;
  signal: AbortSignal;
  onText(text: string): void;
}) => Promise<AgentOutcome>;

/** Is reached and gives that outcome. */
export const answers =
  (outcome: AgentOutcome = { status: 'completed', output: { answer: 'because' } }): AgentWork =>
  async ({ contact }) => {
    contact.reach();
    return outcome;
  };

/** Is reached, and then the service breaks. */
export const breaks: AgentWork = async ({ contact }) => {
  contact.reach();
  throw new Error('A fault of ours.');
};

/** Is reached, and then its sandbox is lost. */
export const losesSandbox: AgentWork = async ({ contact }) => {
  contact.reach();
  throw new SandboxFaultError('lost');
};

/** Gets the task and never answers. */
export const silent: AgentWork = ({ contact, signal }) => {
  contact.begin();
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
};

/** Cannot be reached. */
export const unreachable: AgentWork = async ({ contact }) => {
  contact.begin();
  throw new AgentUnreachableError('The endpoint is gone.', { class: 'endpoint_unreachable' });
};

/** The parts that a test sets up. The chain confirms everything at once, and the agent answers. */
export interface PaidRunWorld {
  chain?: Partial<Chain>;
  authority?: AuthoritySigner;
  funds?: Pick<Funds, 'requireForCharge'>;
  agent?: AgentWork;
  /** The agent answered lately, so that charges are signed as runs start. */
  isHot?: boolean;
  balanceLamports?: bigint;
  manifestTimeoutSeconds?: number;
  protocol?: { current(): Promise<ProtocolTerms>; refreshed(): Promise<ProtocolTerms> };
  /** The most that is unfinalized of a wallet before output waits; without it no output does. */
  unfinalizedCapLamports?: bigint;
  /** How long a caller waits for its charge. */
  chargeWaitMs?: number;
  /** Another replica of a world: the same listing and renter, on another database connection and another chain. */
  replicaOf?: { row: Awaited<ReturnType<typeof insertListing>>; wallet: string };
  /** Brings the balance in the database up to the chain. */
  indexAccounts?: () => Promise<void>;
  /** Replaces parts, to see that a check notices a wrong one. */
  replaceParts?: (parts: MoneyParts) => MoneyParts;
  /** The caller's policy for a price; throws to refuse. */
  allow?: (lamports: bigint) => void;
  /** Its wallet has rented nothing and holds so many lamports, and the first run is free. */
  trial?: { holdsLamports: number };
}

/** The parts that decide about money. */
export interface MoneyParts {
  chain: Chain;
  charges: ReturnType<typeof createChargeRepository>;
  states: ReturnType<typeof createChargeStates>;
  credits: ReturnType<typeof createCredits>;
  signer: ReturnType<typeof createChargeSigner>;
}

const PER_QUERY_TAG = 2;
/** The price comes after the status. */
export const LISTING_PRICE_OFFSET = LISTING_OFFSETS.status + 1;
const VALID = 1;

/** A listing, its credential and its balance, in the order in which a run asks for them. */
export const STANDING = [
  programAccount('Listing', { [LISTING_OFFSETS.rentalModel]: PER_QUERY_TAG }),
  programAccount('AccessCredential', {
    [ACCESS_CREDENTIAL_OFFSETS.rentalModel]: PER_QUERY_TAG,
    [ACCESS_CREDENTIAL_OFFSETS.valid]: VALID,
  }),
  programAccount('PerQueryBalance'),
];

/** The index's view of the renter: it can pay any price. */
const PAYABLE: IndexedRental = {
  rentalModel: 'per_query',
  valid: true,
  expiresAt: null,
  balance: { balanceLamports: 1n << 60n, maxPriceLamports: 1n << 60n },
};

/** The database of a test file, and worlds on it. */
export async function openPaidRuns() {
  const database = await openTestDatabase();
  afterAll(() => database.close());
  const notifications = await openNotifications(database.pool, 'paid_runs_test', logger);
  afterAll(() => notifications.close());
  return {
    db: database.db,
    world: (setup: PaidRunWorld = {}) => paidRunWorld({ database, notifications }, setup),
  };
}

/** A Per-Task listing, a renter with a balance, and all parts of a run but the chain and the agent, which are the test's. */
export async function paidRunWorld(
  { database, notifications }: { database: Pick<TemporaryDatabase, 'db'>; notifications: Notifications },
  setup: PaidRunWorld = {},
) {
  const { db } = database;
  const { isHot = true, balanceLamports = PRICE, manifestTimeoutSeconds = 30, agent = answers() } = setup;
  const { row, wallet } = setup.replicaOf ?? {
    row: await insertListing(db, { price_lamports: PRICE }),
    wallet: newWallet(),
  };
  const sent: Buffer[] = [];
  const given = {
    programId: MARKETPLACE_PROGRAM_ID,
    latestBlockhash: async () => ({
      blockhash: Keypair.generate().publicKey.toBase58(),
      lastValidBlockHeight: 100,
    }),
    getAccounts: async (addresses: PublicKey[]) => ({
      slot: 1n,
      accounts: STANDING.slice(0, addresses.length),
    }),
    getAccountsOfTwo: (addresses: PublicKey[]): ReturnType<Chain['getAccounts']> =>
      chain.getAccounts(addresses),
    simulate: async () => ({ error: null, logs: [] }),
    send: async (signedBytes: Uint8Array) => void sent.push(Buffer.from(signedBytes)),
    waitForConfirmation: async () => ({ err: null, confirmationStatus: 'confirmed' }) as SignatureStatus,
    logsOf: async () => [],
    blockHeight: async () => 1n,
    statuses: async (signatures: string[]) =>
      signatures.map(() => ({ err: null, confirmationStatus: 'confirmed' }) as SignatureStatus),
    ...setup.chain,
  } as unknown as Chain;
  if (isHot && !setup.replicaOf) {
    const contact = { version_id: row.version_id, reached_at: new Date() };
    await db.insertInto('agent_contacts').values(contact).execute();
  }
  if (!setup.replicaOf) {
    await insertBalance(db, wallet, row.address, { balance_lamports: balanceLamports });
  }
  const terms = {
    admin: Keypair.generate().publicKey,
    treasury: Keypair.generate().publicKey,
    authorities: [],
    minQueryPriceLamports: 1n,
    feeBps: 250,
  };
  const { replaceParts = (parts) => parts } = setup;
  const { chain, charges, states, credits, signer } = replaceParts({
    chain: given,
    charges: createChargeRepository(db),
    states: createChargeStates(db, {
      unfinalizedCapLamports: setup.unfinalizedCapLamports ?? 10n ** 18n,
    }),
    credits: createCredits(db),
    signer: createChargeSigner({
      chain: given,
      authority: setup.authority ?? createKeypairSigner(Keypair.generate()),
      protocol: setup.protocol ?? { current: async () => terms, refreshed: async () => terms },
      fees: { latest: () => 0n },
    }),
  });
  const indexer = { indexAccounts: setup.indexAccounts ?? (async () => undefined) } as never;
  const settlement = createSettlement({
    chain,
    charges,
    states,
    credits,
    signer,
    indexer,
    logger,
    ...(setup.funds ? { funds: setup.funds } : {}),
    ...(setup.chargeWaitMs === undefined ? {} : { waitMs: setup.chargeWaitMs }),
  });
  const runs = createRunRepository(db, keys);
  const changes = createRunChanges(notifications);
  const callerCounts = createCallerCounts(db);
  const listing = publishedListing(
    {
      id: row.version_id,
      timeoutSeconds: manifestTimeoutSeconds,
      privatePart: sealPrivatePart(keys, row.version_id, {
        mode: 'connected',
        entrypointUrl: 'https://agent.example/',
        webhookSecret: 'whsec_x',
        salt: 'x',
      }),
    },
    {
      id: row.id,
      address: row.address,
      rentalModel: 'per_query',
      priceLamports: PRICE,
      freeTrial: setup.trial === undefined ? null : 'anyone',
    },
  );
  const noted = createNotedCounts(db, logger);
  const { trial } = setup;
  const history = { lowestLamports: async () => BigInt(trial?.holdsLamports ?? 0) };
  const deps = {
    noted,
    trials: createTrials({ db, history, holdSeconds: 0 }),
    rateLimits: memoryRateLimits(),
    executionsPerMinute: 1_000,
    listings: { findFor: async () => ({ listing, rental: trial ? undefined : PAYABLE }) },
    chain,
    settlement,
    runs,
    waitingCallers: createWaitingCallers({ runs, callerCounts, changes, logger, graceMs: 20 }),
    live: createLiveRuns({ runs, changes, logger }),
    startGate: createStartGate(),
    keyTurns: createKeyTurns(),
    stepTimes: () => undefined,
    unrecordedEnds: { note: () => undefined },
    contacts: createAgentContacts(db, logger),
    changes,
    slots: createSlots({
      repository: createSlotRepository(db, notifications.channel),
      changes,
      logger,
      queue: { maxLength: 0, maxWaitMs: 1_000 },
    }),
    connected: {
      run: (_task: unknown, _agent: unknown, options: Parameters<AgentWork>[0]) => agent(options),
    },
    keys,
    drain: createDrain(),
  } as unknown as RunTaskDeps;
  const never = new AbortController().signal;
  /** Lamports that the policy has reserved, by run. */
  const allowed = new Map<string, bigint>();
  const request = {
    owner: loginOf(wallet),
    body: { agent_id: row.id, task: 'answer' },
    idempotencyKey: `key-${wallet}`,
    allowance: {
      asksFor: () => false,
      reserve: async ({ id, lamports }: { id: string; lamports: bigint }) => {
        setup.allow?.(lamports);
        allowed.set(id, lamports);
      },
      releaseReservation: async (id: string) => void allowed.delete(id),
    },
    adoptsUndelivered: false,
    onExecutionRate: () => undefined,
    caller: { gone: never, patienceMs: undefined, mayComeBack: true },
    receivedAt: performance.now(),
    logger,
  } as unknown as TaskRequest;
  const reconciler = createReconciler({
    chain,
    charges,
    states,
    credits,
    signer,
    indexer,
    runs: {
      async paid(runId) {
        if (await runs.finishHeld(runId)) await changes.announce(runId);
        return runs.wasUndelivered(runId);
      },
      unpaid: (runId) => runs.dropHeld(runId, new ApiError('service_unavailable', 'It failed.')),
      async settled(runId) {
        if (await runs.freeKey(runId)) await changes.announce(runId);
      },
      wasUndelivered: (runId) => runs.wasUndelivered(runId),
    },
    logger,
  });
  const pastRuns = createPastRuns({
    runs,
    callerCounts,
    changes,
    settlement,
    progressOf: createRunProgress(db),
  });
  return {
    db,
    /** The services of the routes. `changed` replaces what stores the runs. */
    services: (changed: (runs: RunRepository) => RunRepository = (same) => same) => ({
      runTask: (given: TaskRequest) => runTask({ ...deps, runs: changed(runs) }, given),
      pastRuns,
    }),
    allowance: request.allowance,
    row,
    wallet,
    listing,
    sent,
    allowed,
    runs,
    changes,
    noted,
    execute: (over: Partial<TaskRequest> = {}) => runTask(deps, { ...request, ...over }),
    /** As a caller without a key, whose text leaves as it is made. */
    stream: (sink: OutputSink) => runTask(deps, { ...request, idempotencyKey: undefined, sink }),
    look: (runId: string) => pastRuns.find(runId, loginOf(wallet), 0, never),
    reconcile: () => reconciler.reconcile('all'),
    statuses: () =>
      db.selectFrom('runs').select(['status', 'failure_class']).where('wallet', '=', wallet).execute(),
    hasCredit: () => settlement.hasCredit(wallet, row.id),
    charges: () =>
      db.selectFrom('charges').selectAll().where('wallet', '=', wallet).orderBy('sequence').execute(),
    signatures: async () => {
      const { rows } = await sql`
        select signature from charge_signatures join charges using (run_id) where wallet = ${wallet}`.execute(
        db,
      );
      return rows.length;
    },
  };
}

/** The error that a run ends with. */
export async function errorOf(running: Promise<unknown>): Promise<ApiError> {
  try {
    await running;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('The run was served.');
}
