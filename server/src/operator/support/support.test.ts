import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { newRunId } from '../../runs/run-id.js';
import { actionsAbout, recordAction } from '../../moderation/index.js';
import { OPERATOR_CREDITS_PER_DAY } from '../../settlement/index.js';
import {
  insertBalance,
  insertCharge,
  insertListing,
  insertRun,
  newWallet,
  openTestDatabase,
} from '../../testing/index.js';
import { OperatorError } from '../operator-error.js';
import { systemUser } from '../system-user.js';
import { parseSupportCommand, runSupportCommand } from './index.js';

const database = await openTestDatabase();
afterAll(() => database.close());
const { db } = database;
const listing = await insertListing(db);
const SECRET = 'the-secret-output';

/** The printed text of a command line. */
async function operate(...argv: string[]): Promise<string> {
  const command = parseSupportCommand(argv);
  if (!command) throw new Error('It is no command of support.');
  return runSupportCommand(db, command);
}
const asJson = async (...argv: string[]) => JSON.parse(await operate(...argv, '--json')) as object;

/** Ends a run, with a sealed output that no command may show. */
const end = (id: string, fields: object) =>
  db
    .updateTable('runs')
    .set({ finished_at: new Date(), duration_ms: 40, output: Buffer.from(SECRET), ...fields })
    .where('id', '=', id)
    .execute();
const charged = async (wallet = newWallet()) => {
  const id = await insertCharge(db, listing, 'finalized', { wallet, priceLamports: 250_000n });
  await end(id, { status: 'completed', cost_lamports: 250_000n });
  return { id, wallet };
};

describe('run', () => {
  it('tells of one that was charged, and shows no output [OPS-133]', async () => {
    const { id, wallet } = await charged();
    const signature = 'S'.repeat(88);
    await db
      .insertInto('charge_signatures')
      .values({ signature, run_id: id, signed_bytes: Buffer.from('bytes'), last_valid_block_height: 1n })
      .execute();
    expect(await asJson('run', id)).toMatchObject({
      runs: [
        {
          run_id: id,
          wallet,
          version: 1,
          status: 'completed',
          cost_lamports: 250_000,
          caller_was_told: 'a result: completed',
          charge: { state: 'finalized', price_lamports: 250_000, signatures: [signature] },
          credit: null,
          receipt: { path: `/v1/runs/${id}/receipt` },
        },
      ],
    });
    const text = await operate('run', id);
    expect(text).toMatch(/^charge\n {2}state +finalized$/m);
    expect(text).not.toContain(SECRET);
  });

  it('tells of one that failed why, and the words of its caller [OPS-133]', async () => {
    const id = await insertRun(db, listing, newWallet());
    const error = { code: 'agent_unreachable', message: 'The agent\u001b[2J cannot be reached.' };
    const failure = { failure_class: 'endpoint_refused', failure_http_status: 502 };
    await end(id, { status: 'undelivered', output: null, error: JSON.stringify(error), ...failure });
    expect(await asJson('run', id)).toMatchObject({
      runs: [
        {
          status: 'undelivered',
          caller_was_told: error,
          failure: { class: 'endpoint_refused', http_status: 502 },
          charge: null,
        },
      ],
    });
    expect(await operate('run', id)).toMatch(/message +The agent \[2J cannot be reached\./);
  });

  it('is found by the id of its request, too [OPS-133]', async () => {
    const request = `req_${randomUUID()}`;
    const old = await insertRun(db, listing, newWallet());
    const id = newRunId(request);
    await db.updateTable('runs').set({ id }).where('id', '=', old).execute();
    expect(await asJson('run', request)).toMatchObject({ runs: [{ run_id: id, status: 'running' }] });
    await expect(operate('run', `req_${randomUUID()}`)).rejects.toThrow(/No run began with this request/);
    await expect(operate('run', randomUUID())).rejects.toThrow(/no such run/);
    await expect(operate('run', "'; drop table runs")).rejects.toThrow(OperatorError);
  });
});

describe('credit', () => {
  it('gives one free run, once a run, and says so of it [OPS-133]', async () => {
    const { id, wallet } = await charged();
    expect(await operate('credit', id, '--reason', 'The answer was of another invoice.')).toContain(
      'free run',
    );
    await expect(operate('credit', id, '--reason', 'Again.')).rejects.toThrow(/given for it already/);
    const credit = { by: 'an operator', reason: 'The answer was of another invoice.', used_by_run_id: null };
    expect(await asJson('run', id)).toMatchObject({ runs: [{ credit }] });
    expect(await actionsAbout(db, id, 10)).toEqual([
      expect.objectContaining({ action: 'credit', reason: credit.reason, operator: systemUser() }),
    ]);
    // The next run of its wallet uses it up, as it does with a credit of the service.
    const next = await insertRun(db, listing, wallet);
    const balance = await insertBalance(db, wallet, listing.address);
    const { rows } = await database.pool.query<{ outcome: string }>(
      'select outcome from reserve_run_charges($1, $2, $3, $4, $5)',
      [balance, wallet, listing.id, [next], [250_000]],
    );
    expect(rows).toEqual([{ outcome: 'credited' }]);
    expect(await asJson('run', next)).toMatchObject({ runs: [{ paid_by_credit_of_run_id: id }] });
    expect(await asJson('run', id)).toMatchObject({ runs: [{ credit: { used_by_run_id: next } }] });
  });

  it('is refused where a free run is worth nothing [OPS-133]', async () => {
    const give = (id: string) => operate('credit', id, '--reason', 'Because.');
    await expect(give(randomUUID())).rejects.toThrow(/no such run/);
    await expect(give(await insertRun(db, listing, newWallet()))).rejects.toThrow(/goes on/);
    const rented = await insertListing(db, { rental_model: 'subscription' });
    const run = await insertRun(db, rented, newWallet());
    await end(run, { status: 'completed' });
    await expect(give(run)).rejects.toThrow(/not paid one by one/);
    const trial = await insertRun(db, listing, newWallet());
    await end(trial, { status: 'completed', is_trial: true });
    await expect(give(trial)).rejects.toThrow(/free first run/);
    expect(() => parseSupportCommand(['credit', run])).toThrow(/--reason/);
  });

  it('has a bound a day over all operators, also when they give at the same time [OPS-133]', async () => {
    await db.deleteFrom('credits').execute();
    const runs = await Promise.all(Array.from({ length: OPERATOR_CREDITS_PER_DAY + 3 }, () => charged()));
    const given = await Promise.allSettled(
      runs.map(({ id }) => operate('credit', id, '--reason', 'Because.')),
    );
    expect(given.filter(({ status }) => status === 'fulfilled')).toHaveLength(OPERATOR_CREDITS_PER_DAY);
    await expect(operate('credit', (await charged()).id, '--reason', 'Because.')).rejects.toThrow(
      /most credits/,
    );
  });
});

it('wallet shows rentals, keys by name, spending and last runs, and no secret [OPS-133]', async () => {
  const { id, wallet } = await charged();
  await insertBalance(db, wallet, listing.address, { balance_lamports: 7n });
  await db
    .insertInto('credentials')
    .values({
      address: newWallet(),
      buyer: wallet,
      listing_address: listing.address,
      rental_model: 'per_query',
      valid: true,
      purchased_at: new Date(),
      expires_at: null,
      slot: 1n,
    })
    .execute();
  const keyId = randomUUID();
  await db
    .insertInto('api_keys')
    .values({
      id: keyId,
      wallet,
      label: 'my laptop',
      digest: Buffer.from(SECRET),
      policy: null,
      revoked_at: null,
    })
    .execute();
  await db
    .insertInto('api_key_spends')
    .values({ id: randomUUID(), api_key_id: keyId, kind: 'run', lamports: 5n })
    .execute();
  await recordAction(db, { action: 'ban', subject: wallet, reason: 'Sells prompts.', operator: 'someone' });
  expect(await asJson('wallet', wallet)).toMatchObject({
    banned: true,
    decisions: [{ action: 'ban', reason: 'Sells prompts.' }],
    rentals: [{ listing_id: listing.id, valid: true, balance_lamports: 7 }],
    keys: [{ label: 'my laptop', spent_lamports_in_24_hours: 5 }],
    last_runs: [{ run_id: id, cost_lamports: 250_000 }],
  });
  const text = await operate('wallet', wallet);
  expect(text).toContain('label my laptop');
  expect(text).not.toContain(Buffer.from(SECRET).toString('hex'));
  await expect(operate('wallet', 'x')).rejects.toThrow(/no address/);
});

it('listing shows status, versions, health, figures and limit [OPS-133]', async () => {
  const { id } = await insertListing(db, { operator_runs_per_minute: 7, runs_per_minute: 30, run_count: 3 });
  await db
    .insertInto('listing_reports')
    .values({
      id: randomUUID(),
      listing_id: id,
      wallet: newWallet(),
      reason: 'fraud',
      text: 'It sells.',
      address: null,
    })
    .execute();
  expect(await asJson('listing', id)).toMatchObject({
    listing_id: id,
    open_reports: [{ reason: 'fraud', text: 'It sells.' }],
    decisions: [],
    status: 'active',
    runs_per_minute: { of_the_creator: 30, of_the_operator: 7 },
    versions: [{ version: 1, runs_now: true }],
    health: { is_checked: true, failing_since: null },
    all_runs: { started: 3 },
    last_24_hours: { runs: { total: 0 } },
  });
  expect(await operate('listing', id)).toMatch(/^status +active$/m);
  await expect(operate('listing', 'absent-aaaaaa')).rejects.toThrow(/no listing "absent-aaaaaa"/);
});
