import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { pino } from 'pino';
import { openDatabase, type OpenDatabase } from '../../database/connection.js';
import { openNotifications, type Notifications } from '../../database/notifications.js';
import { balanceAddressOf, type TemporaryDatabase } from '../../testing/index.js';
import { AgentUnreachableError } from '../agents/outcome.js';
import { paidRunWorld, PRICE, type MoneyParts } from './paid-run.test-support.js';
import { SimulatedChain } from './simulated-chain.test-support.js';

const logger = pino({ level: 'silent' });
/** Runs that the balance pays for at first. */
const FIRST_RUNS = 2n;
const KEYS = 6;
/** While no statement and no call is made for this long, nothing is under way but waits for the chain. */
const QUIET_MS = 12;
/** How long the model waits for one statement. */
const MOST_LOCKED_MS = 1_000;
/** Rounds after which every charge has to have ended; each charge may be signed anew in each. */
const MOST_ROUNDS = 30;

/** Events, in any order. `replica` is 0 or 1. */
export type Step =
  | {
      do: 'run';
      replica: number;
      key: number;
      agent: 'answers' | 'is unreachable';
      /** The process ends when so many packets have gone between it and the database since the request. */
      endsAfter: number | null;
    }
  | { do: 'block'; most: number }
  | { do: 'finalize' | 'fork' | 'forget' | 'expire' | 'give up' | 'reclaim' | 'top up' }
  | { do: 'crash' | 'reconcile'; replica: number };

/** A way in which the parts can be wrong, which the model has to notice. */
export type Mutation = (parts: MoneyParts) => MoneyParts;

/** A replica: a process whose connections all break when it ends. */
interface Replica {
  isOver: boolean;
  /** Statements and calls so far. */
  traffic: number;
  runIds: string[];
  agent: 'answers' | 'is unreachable';
  world: Awaited<ReturnType<typeof paidRunWorld>>;
  onTraffic(): void;
  /** Whether the database still owes it an answer: on a busy machine one takes longer than the others. */
  asksDatabase(): boolean;
  /** Breaks its connections, as a kill -9 does. */
  cut(): void;
  end(): Promise<void>;
}

/** An answer that a caller got. */
interface Delivered {
  key: number;
  runId: string;
  costLamports: bigint;
}

/**
 * Plays steps on two replicas over one database and one chain, then lets all of them end. Returns the violated properties:
 *
 * 1. No run is charged twice.
 * 2. No answer leaves before its charge is in a block. If that charge is not final in the end, after a fork, it is lost.
 * 3. Database and chain agree on each charge.
 * 4. A run that was charged and not delivered is credited.
 * 5. One key has one answer.
 * 6. No charge is refused for lack of money that was never taken out of the balance.
 * 7. No charge, slot or reservation stays open.
 */
export async function violationsOf(
  steps: readonly Step[],
  database: TemporaryDatabase,
  mutation: Mutation = (parts) => parts,
): Promise<string[]> {
  const chain = new SimulatedChain(FIRST_RUNS * PRICE);
  const violations: string[] = [];
  const delivered: Delivered[] = [];
  const asking = new Set<Promise<void>>();
  /** Ids of the runs whose replica is known. */
  const assigned: string[] = [];
  let lastAsked: Replica | undefined;
  const first = await startReplica();
  const { row, wallet } = first.world;
  const { db } = database;
  const replicas = [first, await startReplica({ row, wallet })];

  async function startReplica(replicaOf?: { row: typeof row; wallet: string }): Promise<Replica> {
    const line = await openLine(database.url);
    const own = openDatabase(line.url, () => undefined, 4);
    const replica = { isOver: false, traffic: 0, runIds: [], agent: 'answers' } as unknown as Replica;
    const notifications: Notifications = await openNotifications(own.pool, 'money_model', logger);
    replica.world = await paidRunWorld(
      { database: own, notifications },
      {
        ...(replicaOf && { replicaOf }),
        chain: chain.seenBy(replica),
        balanceLamports: FIRST_RUNS * PRICE,
        replaceParts: mutation,
        indexAccounts: () => index(own, replicaOf ?? replica.world),
        agent: async ({ contact }) => {
          if (replica.agent === 'is unreachable')
            throw new AgentUnreachableError('the agent is not there', { class: 'endpoint_unreachable' });
          contact.reach();
          return { status: 'completed', output: { answer: 'because' } };
        },
      },
    );
    replica.onTraffic = () => undefined;
    replica.asksDatabase = () => line.isAsked();
    line.onTraffic(() => {
      replica.traffic += 1;
      replica.onTraffic();
    });
    replica.cut = () => {
      replica.isOver = true;
      line.cut();
    };
    replica.end = async () => {
      replica.cut();
      await notifications.close().catch(() => undefined);
      await own.close().catch(() => undefined);
    };
    return replica;
  }

  /** Brings the balance in the database up to the chain, as the indexer does. */
  async function index(on: Pick<OpenDatabase, 'db'>, world: { row: { address: string }; wallet: string }) {
    const indexed = chain.indexed();
    await on.db
      .updateTable('balances')
      .set(indexed)
      .where('address', '=', balanceAddressOf(world.wallet, world.row.address))
      .where('slot', '<=', indexed.slot)
      .execute();
  }

  /** Waits until all that is under way waits for the chain. */
  async function quiet(): Promise<void> {
    const traffic = () => replicas.reduce((sum, replica) => sum + replica.traffic, 0);
    const asksDatabase = () => replicas.some((replica) => replica.asksDatabase());
    let waited = 0;
    // A statement that waits for another's lock may wait for the chain, too.
    for (let before = -1; before !== traffic() || (asksDatabase() && waited < MOST_LOCKED_MS);) {
      before = traffic();
      await delay(QUIET_MS);
      // What arrived while other histories kept this process busy is seen first.
      await setImmediate();
      waited += QUIET_MS;
    }
  }

  /** Asks, and notes the answer; a refusal is no answer. */
  async function askAndNote(replica: Replica, key: number): Promise<void> {
    const answer = await replica.world.execute({ idempotencyKey: `key-${key}` }).catch(() => undefined);
    if (answer === undefined || !('runId' in answer) || answer.status !== 'completed' || replica.isOver)
      return;
    const costLamports = answer.costLamports ?? 0n;
    delivered.push({ key, runId: answer.runId, costLamports });
    if (costLamports > 0n && !chain.wasEverCharged(answer.runId)) {
      violations.push(`2: the answer of ${answer.runId} left before its charge was in a block`);
    }
  }

  function ask(replica: Replica, key: number): void {
    const asked = askAndNote(replica, key);
    asking.add(asked);
    void asked.finally(() => asking.delete(asked));
  }

  const replicaAt = (at: number): Replica => replicas[at % replicas.length] ?? first;

  async function take(step: Step): Promise<void> {
    switch (step.do) {
      case 'run': {
        const replica = replicaAt(step.replica);
        replica.agent = step.agent;
        const { endsAfter } = step;
        const end = replica.traffic + (endsAfter ?? 0);
        let ended = false;
        if (endsAfter !== null) replica.onTraffic = () => (ended ||= replica.traffic >= end) && replica.cut();
        lastAsked = replica;
        ask(replica, step.key % KEYS);
        await quiet();
        replica.onTraffic = () => undefined;
        await assignRuns();
        if (ended) await crash(step.replica % replicas.length);
        return;
      }
      case 'block':
        return chain.produceBlock(step.most);
      case 'finalize':
        chain.finalize();
        return index(database, first.world);
      case 'fork':
        chain.fork();
        return index(database, first.world);
      case 'forget':
        return chain.forgetSent();
      case 'expire':
        return chain.expire();
      case 'give up':
        return chain.giveUp();
      case 'reclaim':
        chain.reclaim();
        return index(database, first.world);
      case 'top up':
        chain.topUp(2n * PRICE);
        return index(database, first.world);
      case 'crash':
        return crash(step.replica % replicas.length);
      case 'reconcile':
        return replicaAt(step.replica).world.reconcile();
      default:
        return step satisfies never;
    }
  }

  /** A kill -9, the end of its leases, and a start. */
  async function crash(at: number): Promise<void> {
    const dead = replicaAt(at);
    await dead.end();
    await assignRuns();
    if (dead.runIds.length > 0) {
      await db.deleteFrom('seats').where('run_id', 'in', dead.runIds).execute();
    }
    const next = await startReplica({ row, wallet });
    replicas[at] = next;
    await next.world.runs.markInterrupted(0);
    await next.world.reconcile();
  }

  /** New runs are of the replica that was asked last: on a busy machine a run is recorded after the quiet of its step. */
  async function assignRuns(): Promise<void> {
    const rows = await db.selectFrom('runs').select('id').where('wallet', '=', wallet).execute();
    const known = new Set(assigned);
    const added = rows.map(({ id }) => id).filter((id) => !known.has(id));
    assigned.push(...added);
    lastAsked?.runIds.push(...added);
  }

  try {
    for (const step of steps) {
      await take(step);
      await quiet();
    }
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      chain.giveUp();
      await quiet();
      chain.produceBlock();
      await quiet();
      if (round % 3 === 2) chain.expire();
      else chain.finalize();
      await index(database, first.world);
      await replicaAt(round).world.reconcile();
      await quiet();
      if (asking.size === 0 && (await underWay(db, wallet)) === 0 && round > 3) break;
    }
    await check();
  } finally {
    chain.giveUp();
    await Promise.all(replicas.map((replica) => replica.end()));
  }
  return violations;

  async function check(): Promise<void> {
    const charges = await db.selectFrom('charges').selectAll().where('wallet', '=', wallet).execute();
    const credits = await db.selectFrom('credits').selectAll().where('wallet', '=', wallet).execute();
    const rows = await db.selectFrom('runs').selectAll().where('wallet', '=', wallet).execute();
    const slots = await db
      .selectFrom('seats')
      .select('run_id')
      .where('run_id', 'in', [...rows.map(({ id }) => id), row.version_id])
      .execute();
    const chargedIds = charges.map((each) => each.run_id);
    for (const id of new Set([...rows.map((each) => each.id), ...chargedIds])) {
      if (chain.chargesOf(id) > 1) violations.push(`1: ${id} was charged ${chain.chargesOf(id)} times`);
    }
    for (const { run_id: id, state, failure_code: code } of charges) {
      const wasTaken = chain.chargesOf(id, 'final blocks') === 1;
      const isTaken = state === 'finalized' || state === 'credited';
      const hasEnded = isTaken || state === 'failed' || state === 'lost';
      if (!hasEnded) violations.push(`7: the charge of ${id} stays ${state}`);
      else if (isTaken !== wasTaken)
        violations.push(`3: ${id} is ${state}, and ${wasTaken ? 'was' : 'was not'} taken`);
      if (state === 'lost' && chain.forks === 0) violations.push(`2: ${id} is lost without a fork`);
      if (code === 6003 && !chain.wasReclaimed && chain.forks === 0) {
        violations.push(`6: ${id} was refused for want of money`);
      }
      const run = rows.find((each) => each.id === id);
      const isCredited = credits.some((credit) => credit.run_id === id);
      if (wasTaken && run?.status === 'undelivered' && !isCredited && run.output_left_at === null) {
        violations.push(`4: ${id} was charged, not delivered and not credited`);
      }
    }
    const charged = new Map(charges.map((charge) => [charge.run_id, charge.state]));
    for (const { runId, costLamports } of delivered) {
      const state = charged.get(runId);
      if (costLamports > 0n && chain.chargesOf(runId, 'final blocks') === 0 && state !== 'lost') {
        violations.push(`2: ${runId} was delivered and is ${state}, not taken and not lost`);
      }
      if (costLamports === 0n && !credits.some((credit) => credit.used_by_run_id === runId)) {
        violations.push(`2: ${runId} was delivered for nothing, without a credit`);
      }
    }
    const answers = new Map<number, string>();
    for (const { key, runId } of delivered) {
      if ((answers.get(key) ?? runId) !== runId) violations.push(`5: key ${key} has two answers`);
      answers.set(key, runId);
    }
    if (slots.length > 0) violations.push(`7: ${slots.length} slots stay taken`);
    for (const run of rows) {
      if (run.status === 'running') violations.push(`7: run ${run.id} stays running`);
    }
  }
}

/** How many charges are open, and how many runs have not ended: on a busy machine one may still be ending. */
async function underWay(db: TemporaryDatabase['db'], wallet: string): Promise<number> {
  const { rows } = await sql`
    select id from runs where wallet = ${wallet} and status = 'running'
    union all select run_id from charges
      where wallet = ${wallet} and state in ('reserved', 'signed', 'confirmed')`.execute(db);
  return rows.length;
}

/** A way to a database that can be cut, as the end of a process cuts it. */
async function openLine(
  databaseUrl: string,
): Promise<{ url: string; onTraffic(listener: () => void): void; isAsked(): boolean; cut(): void }> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  /** Connections that wait for an answer of the database. */
  const asking = new Set<Socket>();
  let listener = (): void => undefined;
  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
      socket.on('data', () => listener());
    }
    near.on('data', () => asking.add(near));
    far.on('data', () => asking.delete(near));
    near.on('close', () => asking.delete(near));
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    onTraffic: (next) => (listener = next),
    isAsked: () => asking.size > 0,
    cut() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
