import { randomUUID } from 'node:crypto';
import { Keypair, type SignatureStatus } from '@solana/web3.js';
import { sql, type KyselyPlugin } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeEach, expect, it } from 'vitest';
import type { Db } from '../../database/connection.js';
import { insertListing, openTestDatabase } from '../../testing/index.js';
import { createChargeRepository } from '../charge-repository.js';
import { createChargeStates } from '../charge-states.js';
import { createCredits } from '../credits.js';
import { createReconciler } from './reconciler.js';

const database = await openTestDatabase();
afterAll(() => database.close());
const listing = await insertListing(database.db);
beforeEach(async () => {
  await sql`truncate charge_signatures, credits, charges, undelivered_runs, runs cascade`.execute(
    database.db,
  );
});

/** Counts the statements that go through it. */
function counted(db: Db): { db: Db; statements: () => number } {
  let statements = 0;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return { db: db.withPlugin(plugin), statements: () => statements };
}

/** Charged runs that are delivered, of a hundred wallets, each with a signed transaction that is due since `seconds`. */
async function openCharges(prefix: string, count: number, secondsDue: number): Promise<void> {
  const addresses = Array.from({ length: 100 }, () => Keypair.generate().publicKey.toBase58());
  await sql`
    with made as (
      insert into runs (id, listing_id, version_id, wallet, status, request_digest, finished_at)
      select gen_random_uuid(), ${listing.id}, ${listing.version_id}, 'wallet ' || n % 100, 'completed', '', now()
      from generate_series(1, ${count}::integer) as n
      returning id, wallet
    ), numbered as (select id, wallet, row_number() over () as n from made
    ), charged as (
      insert into charges (run_id, wallet, listing_id, balance_address, price_lamports, sequence, state, next_attempt_at)
      select id, wallet, ${listing.id}, (${addresses}::text[])[1 + n % 100], 1, n, 'signed',
        now() - make_interval(secs => ${secondsDue}) from numbered
      returning run_id
    )
    insert into charge_signatures (signature, run_id, signed_bytes, last_valid_block_height)
    select ${prefix} || run_id, run_id, '', 100 from charged`.execute(database.db);
}

/** A reconciler over a chain where a signature's first letters tell its status. */
function reconcilerOver(db: Db, { send = async () => undefined }: { send?: () => Promise<void> } = {}) {
  return createReconciler({
    chain: {
      blockHeight: async () => 50n,
      statuses: async (signatures) =>
        signatures.map((signature) =>
          signature.startsWith('landed')
            ? ({ err: null, confirmationStatus: 'finalized' } as SignatureStatus)
            : null,
        ),
      send,
      simulate: async () => ({ error: null, logs: [] }),
    },
    charges: createChargeRepository(db),
    states: createChargeStates(db, { unfinalizedCapLamports: 10n ** 18n }),
    credits: createCredits(db),
    signer: {} as never,
    indexer: { indexAccounts: async () => undefined },
    runs: {
      paid: async () => false,
      unpaid: async () => undefined,
      settled: async () => undefined,
      wasUndelivered: async () => false,
    },
    logger: pino({ level: 'silent' }),
  });
}

const finalized = async (): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from charges where state = 'finalized'`.execute(database.db);
  return rows[0]?.count ?? 0;
};

it('charges that have landed are settled in one round, by statements that do not grow with them [MON-7]', async () => {
  const statements: number[] = [];
  for (const count of [20, 900]) {
    await openCharges('landed', count, 10);
    const before = await finalized();
    const watched = counted(database.db);
    await reconcilerOver(watched.db).reconcile();
    expect(await finalized()).toBe(before + count);
    statements.push(watched.statements());
  }
  expect(statements[1]).toBe(statements[0]);
});

it('charges that are stuck longer, and whose calls hang, hold up none that have landed [MON-7]', async () => {
  await openCharges('stuck', 200, 1_000);
  await openCharges('landed', 300, 10);
  let release = (): void => undefined;
  const hanging = new Promise<void>((resolve) => (release = resolve));
  const round = reconcilerOver(database.db, { send: () => hanging }).reconcile();
  await expect.poll(finalized).toBe(300);
  release();
  await round;
});

it('charges that are stuck come later each time, and what became due since comes first [MON-7]', async () => {
  await openCharges('stuck', 1_200, 1_000);
  const charges = createChargeRepository(database.db);
  const delays: number[] = [];
  for (let attempt = 0; attempt < 7; attempt += 1) {
    const taken = [...(await charges.takeDue(1_000)), ...(await charges.takeDue(1_000))];
    expect(taken).toHaveLength(1_200);
    const { rows } = await sql<{ seconds: number }>`
      select extract(epoch from min(next_attempt_at) - now())::float8 as seconds from charges`.execute(
      database.db,
    );
    delays.push(2 ** Math.round(Math.log2(rows[0]?.seconds ?? 0)));
    await openCharges(`new ${randomUUID()}`, 1, 0);
    // Stuck charges are not due yet.
    expect(await charges.takeDue(1_000)).toHaveLength(1);
    await sql`delete from charge_signatures where signature like 'new%'`.execute(database.db);
    await sql`delete from charges where not exists (
      select from charge_signatures where charge_signatures.run_id = charges.run_id)`.execute(database.db);
    await sql`update charges set next_attempt_at = now()`.execute(database.db);
  }
  expect(delays).toEqual([2, 4, 8, 16, 32, 64, 64]);
});
