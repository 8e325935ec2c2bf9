import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../database/migrate.js';
import { openEmptyDatabase, type TemporaryDatabase } from '../testing/index.js';
import { createChargeRepository } from './charge-repository.js';
import { createChargeStates } from './charge-states.js';

const CAP = 15n;
const RUNS = ['1', '2', '3', '4'].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`);
const [confirmed = '', dropped = '', late = '', own = ''] = RUNS;

let database: TemporaryDatabase;
beforeAll(async () => {
  database = await openEmptyDatabase();
});
afterAll(() => database.close());

const run = (text: string, values: unknown[] = []) => database.pool.query(text, values);

/** As the version before 0027 writes a transaction, in one statement. */
async function signEarlier(runId: string): Promise<void> {
  await run(
    `with signature as (
      insert into charge_signatures (signature, run_id, wire, last_valid_block_height) values ($2, $1, $3, 1)
    )
    update charges set state = 'signed', updated_at = now(), attempts = 0
    where run_id = $1 and state in ('reserved', 'signed', 'confirmed')`,
    [runId, randomBytes(32).toString('hex'), Buffer.alloc(1)],
  );
}

const confirmEarlier = (runId: string) =>
  run(`update charges set state = 'confirmed' where run_id = $1 and state = 'signed'`, [runId]);

it('charges of the version before, and its replicas during an update, are settled as their own: none confirmed is forgotten [MON-50]', async () => {
  await migrate(database.db, '0024-call-give-ups');
  await run(`insert into creators (wallet) values ('wallet')`);
  await run(
    `insert into listings (id, creator, title, description, category, rental_model, price_lamports, min_deposit_lamports,
      status, address, metadata_uri, sample_output, version_id, review_state)
    values ('listing', 'wallet', 't', 'd', '{finance}', 'per_query', 1000, 1000, 'draft', 'a', 'u', '[]', $1, 'approved')`,
    [RUNS[0]],
  );
  for (const [place, id] of RUNS.entries()) {
    await run(
      `insert into runs (id, listing_id, version_id, wallet, status, request_digest) values ($1, 'listing', $1, 'wallet', 'running', '')`,
      [id],
    );
    await run(
      `insert into charges (run_id, wallet, listing_id, balance_address, price_lamports, sequence, state)
        values ($1, 'wallet', 'listing', 'balance', 10, $2, 'reserved')`,
      [id, place],
    );
  }
  await signEarlier(confirmed);
  await confirmEarlier(confirmed);
  expect(await migrate(database.db)).toContain('0027-charge-ends');

  const states = createChargeStates(database.db, { unfinalizedCapLamports: CAP });
  const charges = createChargeRepository(database.db);
  // A replica of the version before goes on writing.
  await signEarlier(dropped);
  await confirmEarlier(dropped);
  await signEarlier(late);
  expect(await charges.find(confirmed)).toMatchObject({ awaits_finality: false });
  expect((await charges.find(confirmed))?.confirmed_at).not.toBeNull();
  // What it let out counts against the cap.
  await states.sign([own], { signature: 'own', wire: Buffer.alloc(1), lastValidBlockHeight: 1n });
  expect(await states.confirm(own)).toBe(false);
  // What it confirmed is lost when it cannot be made again, also after it was signed anew.
  expect(await states.end(confirmed, undefined)).toBe('lost');
  await states.sign([dropped], { signature: 'anew', wire: Buffer.alloc(1), lastValidBlockHeight: 1n });
  expect(await states.end(dropped, undefined)).toBe('lost');
  expect(await states.end(late, undefined)).toBe('failed');
});
