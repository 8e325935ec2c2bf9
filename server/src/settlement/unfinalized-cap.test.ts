import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { insertBalance, insertListing, insertRun, newWallet, openTestDatabase } from '../testing/index.js';
import { createChargeRepository } from './charge-repository.js';
import { createChargeStates, type ChargeStates } from './charge-states.js';
import { createCredits } from './credits.js';

const CAP = 1_050n;
const PRICE = 100n;
const REPLICAS = 4;

const database = await openTestDatabase();
afterAll(() => database.close());
const listing = await insertListing(database.db);

/** Replicas that write the states of one database. */
function replicas(): (index: number) => ChargeStates {
  const newReplica = () => createChargeStates(database.db, { unfinalizedCapLamports: CAP });
  const first = newReplica();
  const others = Array.from({ length: REPLICAS - 1 }, newReplica);
  return (index) => others[(index % REPLICAS) - 1] ?? first;
}

/** A wallet whose charges are signed. */
async function newPayer() {
  const { db } = database;
  const states = replicas()(0);
  const charges = createChargeRepository(db);
  const wallet = newWallet();
  const balanceAddress = await insertBalance(db, wallet, listing.address);
  const transaction = () => ({
    signature: randomBytes(32).toString('hex'),
    signedBytes: Buffer.alloc(1),
    lastValidBlockHeight: 1n,
  });
  return {
    states,
    charges,
    wallet,
    resign: (runId: string) => states.sign([runId], transaction()),
    async sign(priceLamports = PRICE): Promise<string> {
      const runId = await insertRun(db, listing, wallet);
      await charges.reserve({ runId, wallet, listingId: listing.id, balanceAddress, priceLamports });
      await states.sign([runId], transaction());
      return runId;
    },
    /** Lamports of delivered output that is not final. */
    async exposedLamports(): Promise<bigint> {
      const rows = await db
        .selectFrom('charges')
        .selectAll()
        .where('wallet', '=', wallet)
        .where('awaits_finality', '=', false)
        .where('confirmed_at', 'is not', null)
        .where('state', 'in', ['signed', 'confirmed'])
        .execute();
      return rows.reduce((sum, row) => sum + row.price_lamports, 0n);
    },
  };
}

async function signMany(sign: () => Promise<string>, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => sign()));
}

describe('the unfinalized charges of a wallet', () => {
  it('release output up to the cap of each wallet exactly, however many replicas confirm them at once [MON-10]', async () => {
    const payers = await Promise.all([newPayer(), newPayer(), newPayer()]);
    const runs = await Promise.all(payers.map(({ sign }) => signMany(sign, 20)));
    const writerAt = replicas();
    const released = await Promise.all(
      runs.map((mine) => Promise.all(mine.map((run, index) => writerAt(index).confirm(run)))),
    );
    expect(released.map((mine) => mine.filter(Boolean).length)).toEqual([10, 10, 10]);
    for (const { exposedLamports } of payers) expect(await exposedLamports()).toBe(1_000n);
  });

  it('make room once they are final, and a charge above the cap is released by its own finality', async () => {
    const { sign, states, charges } = await newPayer();
    const first = await sign(CAP);
    const second = await sign();
    expect(await states.confirm(first)).toBe(true);
    expect(await states.confirm(second)).toBe(false);
    // The decision is kept: only finality releases it.
    expect(await states.confirm(second)).toBe(false);
    await states.finalize(first);
    expect(await states.confirm(second)).toBe(false);
    expect(await states.confirm(await sign())).toBe(true);
    expect(await states.confirm(second, true)).toBe(true);
    expect(await charges.find(second)).toMatchObject({ state: 'confirmed', awaits_finality: false });
  });

  it('give no credit above the cap before they are final', async () => {
    const { sign, states } = await newPayer();
    const credits = createCredits(database.db);
    const run = await sign(CAP + 1n);
    await states.confirm(run);
    await database.db.updateTable('runs').set({ status: 'undelivered' }).where('id', '=', run).execute();
    expect(await credits.give(run)).toBe(false);
    await states.confirm(run, true);
    expect(await credits.give(run)).toBe(true);
  });

  it('never exceed the cap, in whatever order they are confirmed, dropped and finalized', async () => {
    const step = fc.record({
      do: fc.constantFrom('confirm', 'confirm', 'finalize', 'drop'),
      which: fc.nat(9),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.bigInt(1n, 700n), { minLength: 2, maxLength: 8 }),
        fc.array(step, { minLength: 4, maxLength: 16 }),
        async (prices, steps) => {
          const { sign, states, resign, exposedLamports, charges } = await newPayer();
          const runs: string[] = [];
          for (const price of prices) runs.push(await sign(price));
          // Three steps are made at once, but for forks: a final transaction is not dropped any more.
          for (let place = 0; place < steps.length; place += 3) {
            const together = steps.slice(place, place + 3).map((taken) => ({
              ...taken,
              run: runs[taken.which % runs.length] ?? '',
            }));
            for (const { run } of together.filter(({ do: what }) => what === 'drop')) {
              if ((await charges.find(run))?.state === 'confirmed') await resign(run);
            }
            await Promise.all(
              together.map(async ({ do: what, run }) => {
                if (what === 'confirm') await states.confirm(run);
                if (what === 'finalize' && (await charges.find(run))?.state === 'confirmed') {
                  await states.confirm(run, true);
                  await states.finalize(run);
                }
              }),
            );
            expect(await exposedLamports()).toBeLessThanOrEqual(CAP);
          }
        },
      ),
      { seed: 45, numRuns: 60 },
    );
  });
});
