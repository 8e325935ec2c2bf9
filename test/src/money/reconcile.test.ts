import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { decodeEscrow, findEscrowAddress, findListingAddress } from '@agent-rental/program-client';
import { findRunningPostgres } from '@agent-rental/server/testing';
import { Connection } from '@solana/web3.js';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { PRICE, publishProgram, rentAgent } from '../support/agents/agents.js';
import { IS_QUICK } from '../support/form.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const MAIN = fileURLToPath(new URL('../../../server/dist/reconciliation/main.js', import.meta.url));
const DEPOSITED_RUNS = 20;

let stateDir: string;
let marketplace: OwnMarketplace;
let database: Client;
let creator: Participant;
let renter: Participant;
let agentId: string;
let balanceAddress: string;
const runIds: string[] = [];

beforeAll(async () => {
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, { SANDBOX_POOL_SIZE: '1' });
  database = new Client({ connectionString: findRunningPostgres(stateDir) });
  await database.connect();
  [creator, renter] = await Promise.all([newParticipant(marketplace), newParticipant(marketplace)]);
  agentId = await publishProgram(marketplace, creator, 'return {};');
  await rentAgent(renter, agentId, DEPOSITED_RUNS);
  for (const task of ['one', 'two', 'three']) {
    runIds.push((await renter.client.execute({ agent_id: agentId, task })).run_id);
  }
  await vi.waitUntil(async () => (await unsettled()) === 0, { timeout: 60_000 });
  balanceAddress = await one('select balance_address from charges where run_id = $1', runIds[0]);
}, 240_000);
afterAll(async () => {
  await database?.end();
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

/** The one value of the one row. */
async function one<T = string>(statement: string, ...values: unknown[]): Promise<T> {
  const { rows } = await database.query<Record<string, T>>(statement, values);
  return Object.values(rows[0] ?? {})[0] as T;
}

/** Charges and accounts that are not final yet. */
const unsettled = async () =>
  Number(
    await one(`select (select count(*) from charges where state in ('reserved', 'signed', 'confirmed'))
      + (select count(*) from unfinalized_accounts)`),
  );
const stateOf = (runId: string | undefined) => one('select state from charges where run_id = $1', runId);

interface Listed {
  kind: string;
  address: string;
  run_id?: string;
  lamports?: string;
}

/** Runs the command as an operator does. */
function reconcile(
  ...options: string[]
): Promise<{ code: number; repaired: Listed[]; open: Listed[]; text: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [MAIN, '--json', ...options],
      { env: { ...process.env, STATE_DIR: stateDir, DATABASE_URL: undefined, SOLANA_RPC_URLS: undefined } },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code);
        const { repaired = [], open = [] } = stdout ? (JSON.parse(stdout) as { repaired: []; open: [] }) : {};
        resolve({ code, repaired, open, text: stdout + stderr });
      },
    );
  });
}

const byKind = (found: Listed[]) =>
  found
    .map(({ kind, run_id: runId, lamports }) => [kind, runId, lamports].filter(Boolean).join(' '))
    .toSorted();

test.skipIf(IS_QUICK)(
  'the earnings that a creator is told equal the escrow’s, to the lamport [TXN-1, MON-22]',
  async () => {
    const listing = findListingAddress(agentId).address;
    const account = await new Connection(marketplace.dev.rpc_url, 'confirmed').getAccountInfo(
      findEscrowAddress(listing).address,
    );
    const { earningsLamports, totalEarnedLamports } = decodeEscrow(account?.data ?? Buffer.alloc(0));
    // The index follows the chain.
    await expect
      .poll(async () => (await creator.client.getEarnings()).earnings)
      .toMatchObject([
        {
          listing_id: agentId,
          earned_lamports: Number(totalEarnedLamports),
          withdrawable_lamports: Number(earningsLamports),
          pending_lamports: 0,
        },
      ]);
    expect(totalEarnedLamports).toBe(BigInt(3 * (PRICE - PRICE / 40)));
  },
);

test.skipIf(IS_QUICK)(
  'database and chain agree after runs, and each kind of difference is found, and repaired where that is safe [MON-22]',
  async () => {
    const agreed = await reconcile();
    expect([agreed.code, agreed.open, agreed.repaired], agreed.text).toEqual([0, [], []]);
    expect((await reconcile('--every-transaction')).code).toBe(0);

    // The index forgets and errs, a taken charge is recorded as failed, another is forgotten, and one was never made.
    const [failed, forgotten, kept] = runIds;
    const invented = randomUUID();
    const wallet = renter.wallet.publicKey.toBase58();
    await database.query('update balances set balance_lamports = 1 where address = $1', [balanceAddress]);
    await database.query('delete from credentials where buyer = $1', [wallet]);
    await database.query('update escrows set total_earned_lamports = 7 where listing_address = $1', [
      findListingAddress(agentId).address.toBase58(),
    ]);
    await database.query(`update runs set status = 'undelivered', cost_lamports = 0 where id = $1`, [failed]);
    await database.query(`update charges set state = 'failed' where run_id = $1`, [failed]);
    for (const table of ['charge_signatures', 'charges'])
      await database.query(`delete from ${table} where run_id = $1`, [forgotten]);
    const columns =
      await one(`select string_agg(quote_ident(column_name), ', ') from information_schema.columns
      where table_name = 'runs' and table_schema = 'public' and is_generated = 'NEVER'`);
    await database.query(
      `insert into runs (${columns}) select ${columns} from (
        select (jsonb_populate_record(run, jsonb_build_object('id', $1::text, 'idempotency_key', $1::text))).*
        from runs as run where id = $2) as copy`,
      [invented, kept],
    );
    await database.query(
      `insert into charges (run_id, wallet, listing_id, balance_address, price_lamports, sequence, state)
     select $1, wallet, listing_id, balance_address, price_lamports, 99, 'finalized' from charges where run_id = $2`,
      [invented, kept],
    );
    const repairable = [`charge_landed ${failed} ${PRICE}`, 'index', 'index', 'index'];
    const open = [`charge_missing ${invented} ${PRICE}`, `unknown_charge ${forgotten} ${PRICE}`];

    const dry = await reconcile('--dry-run');
    expect([dry.code, byKind(dry.open)]).toEqual([1, [...repairable, ...open].toSorted()]);
    expect(await stateOf(failed)).toBe('failed');

    const found = await reconcile();
    expect([found.code, byKind(found.repaired), byKind(found.open)]).toEqual([1, repairable, open]);
    expect(await renter.client.verifyCredential(agentId)).toMatchObject({
      status: 'active',
      balance_lamports: (DEPOSITED_RUNS - 3) * PRICE,
    });
    // The undelivered run was paid after all: the next one is free.
    await expect.poll(() => stateOf(failed), { timeout: 20_000 }).toBe('credited');
    const free = await renter.client.execute({ agent_id: agentId, task: 'free' });
    expect(free.cost_lamports).toBe(0);
    // Runs under way are no difference.
    const busy = Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        renter.client.execute({ agent_id: agentId, task: `busy ${index}` }),
      ),
    );
    const meanwhile = await reconcile('--every-transaction');
    expect([byKind(meanwhile.open), meanwhile.repaired], meanwhile.text).toEqual([open, []]);
    await busy;
  },
);

test.skipIf(IS_QUICK)('a comparison that cannot be made says why, and exits with 2', async () => {
  const run = (env: Record<string, string | undefined>, ...options: string[]) =>
    new Promise<{ code: number; stderr: string }>((resolve) => {
      execFile(
        process.execPath,
        [MAIN, ...options],
        { env: { ...process.env, ...env } },
        (error, _, stderr) => resolve({ code: Number(error?.code ?? 0), stderr }),
      );
    });
  const none = { DATABASE_URL: undefined, SOLANA_RPC_URLS: undefined };
  const cases = [
    [{ ...none, STATE_DIR: `${stateDir}-none` }, /^No server runs on the state folder/],
    [{ ...none, SOLANA_RPC_URLS: 'http://127.0.0.1:1' }, /^DATABASE_URL and SOLANA_RPC_URLS belong together/],
    [
      { DATABASE_URL: findRunningPostgres(stateDir), SOLANA_RPC_URLS: 'http://127.0.0.1:1' },
      /^The comparison could not be made: The chain cannot be reached/,
    ],
  ] as const;
  for (const [env, message] of cases) {
    const { code, stderr } = await run(env);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  }
  expect(await run(none, '--wrong')).toMatchObject({ code: 2, stderr: expect.stringContaining('--help') });
});
