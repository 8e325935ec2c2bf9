import { randomBytes, randomUUID } from 'node:crypto';
import { CHARGE_WINDOW_BITS, isSequenceConsumed, PROGRAM_ERRORS } from '@agent-rental/program-client';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../errors/api-error.js';
import type { ChargeState } from '../database/charge-states.js';
import { FUNCTION_CONSTANTS } from '../database/function-constants.js';
import { balanceAddressOf, insertListing, insertRun, newWallet, openTestDatabase } from '../testing/index.js';
import type { Charge, ChargeRow, ReservedCharge } from './charge.js';
import { createChargeRepository } from './charge-repository.js';
import { createChargeStates } from './charge-states.js';
import { createCredits } from './credits.js';

const NO_CAP = 10n ** 18n;

const database = await openTestDatabase();
afterAll(() => database.close());
const charges = createChargeRepository(database.db);
const states = createChargeStates(database.db, { unfinalizedCapLamports: NO_CAP });
const credits = createCredits(database.db);
const listing = await insertListing(database.db);

/** The little-endian bytes of the 256 bits, as the index stores them. */
function windowBits(window: bigint): Buffer {
  const bytes = Buffer.alloc(32);
  for (let index = 0; index < 32; index += 1) bytes[index] = Number((window >> BigInt(8 * index)) & 0xffn);
  return bytes;
}

/** A renter's balance account as the chain would have it: applies charges as `consume_query` does. */
class BalanceAccount {
  readonly wallet = newWallet();
  readonly address = balanceAddressOf(this.wallet, listing.address);
  balance: bigint;
  highestSequence = 0n;
  window = 0n;
  slot = 1n;

  constructor(balance: bigint) {
    this.balance = balance;
  }

  consume(charge: Charge): void {
    if (isSequenceConsumed(this, charge.sequence))
      throw new Error(`sequence ${charge.sequence} charged twice`);
    if (charge.price_lamports > this.balance) throw new Error('the balance cannot pay');
    const ahead = charge.sequence - this.highestSequence;
    if (ahead > 0n) {
      this.window = ((this.window << ahead) | 1n) & (2n ** CHARGE_WINDOW_BITS - 1n);
      this.highestSequence = charge.sequence;
    } else {
      if (-ahead >= CHARGE_WINDOW_BITS) throw new Error('the sequence is too old');
      this.window |= 1n << -ahead;
    }
    this.balance -= charge.price_lamports;
    this.slot += 1n;
  }

  /** Reads the account into the index, as it is now. */
  async index(): Promise<void> {
    const row = {
      address: this.address,
      buyer: this.wallet,
      listing_address: listing.address,
      balance_lamports: this.balance,
      max_price_lamports: 10n ** 15n,
      highest_sequence: this.highestSequence,
      window_bits: windowBits(this.window),
      slot: this.slot,
    };
    await database.db
      .insertInto('balances')
      .values(row)
      .onConflict((conflict) => conflict.column('address').doUpdateSet(row))
      .execute();
  }

  async reserve(priceLamports: bigint): Promise<ReservedCharge | 'credited' | 'insufficient'> {
    const runId = await insertRun(database.db, listing, this.wallet);
    try {
      const { wallet, address: balanceAddress } = this;
      return await charges.reserve({ runId, wallet, listingId: listing.id, balanceAddress, priceLamports });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'insufficient_balance') return 'insufficient';
      throw error;
    }
  }

  async rows(): Promise<ChargeRow[]> {
    const all = database.db.selectFrom('charges').selectAll();
    return all.where('balance_address', '=', this.address).execute();
  }
}

async function indexed(lamports: bigint): Promise<BalanceAccount> {
  const account = new BalanceAccount(lamports);
  await account.index();
  return account;
}

const newSignature = () => ({
  signature: randomBytes(32).toString('hex'),
  signedBytes: randomBytes(8),
  lastValidBlockHeight: 100n,
});

async function reserved(account: BalanceAccount, price: bigint): Promise<Charge> {
  const charge = await account.reserve(price);
  if (typeof charge === 'string') throw new Error('the balance should have paid for this');
  return charge;
}

async function advance(charge: Charge, to: 'confirmed' | 'finalized'): Promise<void> {
  await (to === 'confirmed' ? states.confirm(charge.run_id) : states.finalize(charge.run_id));
  if ((await charges.find(charge.run_id))?.state !== to) throw new Error(`is not ${to}`);
}

/** Has a charge confirmed whose run is then not delivered: a credit is owed for it. */
async function owe(charge: Charge): Promise<void> {
  await states.sign([charge.run_id], newSignature());
  await states.confirm(charge.run_id);
  await endRun(charge.run_id, 'undelivered');
}

const setCharge = ({ run_id: id }: Charge, fields: { sequence: bigint; state?: 'failed' }) =>
  database.db.updateTable('charges').set(fields).where('run_id', '=', id).execute();

async function endRun(runId: string, status: 'undelivered' | 'completed'): Promise<void> {
  await database.db.updateTable('runs').set({ status }).where('id', '=', runId).execute();
}

/** Tries to give a charge back; only one that was never signed goes. */
async function releaseAny(account: BalanceAccount, charge: ChargeRow): Promise<void> {
  await states.release(charge.run_id);
  const after = (await account.rows()).find(({ run_id: id }) => id === charge.run_id);
  expect(after?.state).toBe(charge.state === 'reserved' ? undefined : charge.state);
}

/** Lamports that the balance of the index still promises to open charges. */
async function expectConserved(account: BalanceAccount): Promise<void> {
  const snapshot = await database.db
    .selectFrom('balances')
    .selectAll()
    .where('address', '=', account.address)
    .executeTakeFirstOrThrow();
  const view = {
    highestSequence: snapshot.highest_sequence,
    window: snapshot.window_bits.reduceRight((bits, byte) => (bits << 8n) | BigInt(byte), 0n),
  };
  const rows = await account.rows();
  const promised = rows
    .filter((row) => ['reserved', 'signed', 'confirmed'].includes(row.state))
    .filter((row) => !isSequenceConsumed(view, row.sequence))
    .reduce((sum, row) => sum + row.price_lamports, 0n);
  expect(promised).toBeLessThanOrEqual(snapshot.balance_lamports);
  expect(new Set(rows.map((row) => row.sequence)).size).toBe(rows.length);
}

type Step =
  | { do: 'reserve'; prices: bigint[] }
  | { do: 'sign' | 'land' | 'confirm' | 'pay' | 'finalize' | 'release'; which: number }
  | { do: 'index' }
  | { do: 'topUp'; lamports: bigint };

const onCharge = (what: Extract<Step, { which: number }>['do']) =>
  fc.record({ do: fc.constant(what), which: fc.nat(5) });
const prices = fc.array(fc.bigInt(1n, 60n), { minLength: 1, maxLength: 5 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('reserve' as const), prices }) },
  { weight: 3, arbitrary: onCharge('sign') },
  { weight: 3, arbitrary: onCharge('land') },
  { weight: 2, arbitrary: onCharge('confirm') },
  // The usual way of a charge in one step, before the index has heard of it.
  { weight: 4, arbitrary: onCharge('pay') },
  { weight: 1, arbitrary: onCharge('finalize') },
  { weight: 2, arbitrary: onCharge('release') },
  { weight: 2, arbitrary: fc.constant({ do: 'index' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('topUp' as const), lamports: fc.bigInt(1n, 50n) }) },
);

describe('the open charges of a balance', () => {
  it('never promise more than its snapshot has, and every signed one can be paid on-chain [MON-3]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt(0n, 200n),
        fc.array(step, { minLength: 3, maxLength: 14 }),
        async (start, steps) => {
          const account = new BalanceAccount(start);
          await account.index();
          const landed = new Set<string>();
          let indexedRuns = new Set<string>();
          for (const taken of steps) {
            const rows = (await account.rows()).toSorted((a, b) => Number(a.sequence - b.sequence));
            const fits: Readonly<Record<string, (row: ChargeRow) => boolean>> = {
              sign: ({ state }) => state === 'reserved',
              pay: ({ state }) => state === 'reserved',
              land: ({ state, run_id: id }) => state === 'signed' && !landed.has(id),
              confirm: ({ state, run_id: id }) => state === 'signed' && landed.has(id),
              finalize: ({ state, run_id: id }) => state === 'confirmed' && indexedRuns.has(id),
            };
            const fitting = rows.filter(fits[taken.do] ?? (() => true));
            const row = 'which' in taken ? fitting[taken.which % Math.max(1, fitting.length)] : undefined;
            if (taken.do === 'reserve') {
              await Promise.all(taken.prices.map((price) => account.reserve(price)));
            } else if (taken.do === 'index') {
              await account.index();
              indexedRuns = new Set(landed);
            } else if (taken.do === 'topUp') {
              account.balance += taken.lamports;
              account.slot += 1n;
            } else if (row && taken.do === 'release') {
              await releaseAny(account, row);
            } else if (row) {
              const isPaid = taken.do === 'pay';
              if (taken.do === 'sign' || isPaid) await states.sign([row.run_id], newSignature());
              if (taken.do === 'land' || isPaid) {
                // Throws where the chain would refuse.
                account.consume(row);
                landed.add(row.run_id);
              }
              if (taken.do === 'confirm' || isPaid) await advance(row, 'confirmed');
              if (taken.do === 'finalize') await advance(row, 'finalized');
            }
            await expectConserved(account);
          }
        },
      ),
      { seed: 20_260, numRuns: 200 },
    );
  });

  it('take the whole balance and not a lamport more, when many ask at once [MON-3]', async () => {
    const account = await indexed(1050n);
    const results = await Promise.all(Array.from({ length: 30 }, () => account.reserve(100n)));
    const made = results.filter((result) => typeof result !== 'string');
    expect(made).toHaveLength(10);
    expect(made.map(({ sequence }) => sequence).toSorted((a, b) => Number(a - b))).toEqual(
      Array.from({ length: 10 }, (_, index) => BigInt(index + 1)),
    );
  });

  it('are counted once: not any more when the snapshot shows them as paid', async () => {
    const account = await indexed(100n);
    const first = await reserved(account, 60n);
    await states.sign([first.run_id], newSignature());
    account.consume(first);
    await states.confirm(first.run_id);
    expect(await account.reserve(41n)).toBe('insufficient');
    await account.index();
    expect(await account.reserve(41n)).toBe('insufficient');
    await reserved(account, 40n);
  });

  it('stay within the window that the program keeps', async () => {
    const account = await indexed(10_000n);
    const first = await reserved(account, 1n);
    await setCharge(await reserved(account, 1n), { sequence: 256n });
    await expect(account.reserve(1n)).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      retryAfterSeconds: 5,
    });
    await states.release(first.run_id);
    expect((await reserved(account, 1n)).sequence).toBe(257n);
  });

  it('stay as near to the sequences of the chain as the program wants it', async () => {
    const account = await indexed(10_000n);
    const failed = await reserved(account, 1n);
    await setCharge(failed, { sequence: 1_024n, state: 'failed' });
    await expect(account.reserve(1n)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    await setCharge(failed, { sequence: 1_023n });
    expect((await reserved(account, 1n)).sequence).toBe(1_024n);
  });

  it('start after the sequences of the chain, when the chain is ahead of the database', async () => {
    const account = new BalanceAccount(1000n);
    account.highestSequence = 41n;
    account.window = 1n;
    await account.index();
    expect((await reserved(account, 1n)).sequence).toBe(42n);
  });

  it('are refused where there is no balance at all', async () => {
    expect(await new BalanceAccount(1000n).reserve(1n)).toBe('insufficient');
  });
});

describe('a charge', () => {
  /** Replicas, and the states that they moved charges to. */
  function watched() {
    const moved: ChargeState[] = [];
    const options = { unfinalizedCapLamports: NO_CAP, moved: (to: ChargeState) => void moved.push(to) };
    return { moved, replica: () => createChargeStates(database.db, options) };
  }
  let account: BalanceAccount;
  let charge: Charge;
  beforeEach(async () => {
    account = await indexed(1000n);
    charge = await reserved(account, 10n);
  });

  it('is given back before it is signed, and never afterwards', async () => {
    await states.release(charge.run_id);
    expect(await account.rows()).toEqual([]);
    const signed = await reserved(account, 10n);
    await states.sign([signed.run_id], newSignature());
    await states.release(signed.run_id);
    expect(await account.rows()).toHaveLength(1);
  });

  it('keeps every signature in order, and comes up as open until its end [MON-1]', async () => {
    const [first, second] = [newSignature(), newSignature()];
    await states.sign([charge.run_id], first);
    await states.sign([charge.run_id], second);
    const mine = async () => {
      await charges.makeAllDue();
      return (await charges.takeDue(10_000)).find(({ charge: { run_id: id } }) => id === charge.run_id);
    };
    expect(await mine()).toMatchObject({
      charge: { state: 'signed', sequence: charge.sequence },
      signatures: [first, second],
    });
    await states.confirm(charge.run_id);
    expect(await mine()).toBeDefined();
    await states.finalize(charge.run_id);
    expect(await mine()).toBeUndefined();
  });

  it('that stays open is due later each time, and keeps none of the others from being taken [MON-7]', async () => {
    // 30 charges that never settle, and one that came last.
    const others: string[] = [];
    for (let count = 0; count < 30; count += 1) {
      const other = await reserved(account, 1n);
      await states.sign([other.run_id], newSignature());
      others.push(other.run_id);
    }
    await states.sign([charge.run_id], newSignature());
    await charges.makeAllDue();
    const taken = new Set<string>();
    for (let batch = 0; batch < 1_000 && taken.size < 31; batch += 1) {
      for (const { charge: open } of await charges.takeDue(7)) {
        // None comes twice before its next attempt is due.
        expect(taken.has(open.run_id)).toBe(false);
        if (open.balance_address === account.address) taken.add(open.run_id);
      }
    }
    expect([...taken].toSorted()).toEqual([...others, charge.run_id].toSorted());
    const [row] = await account.rows();
    expect(row?.next_attempt_at.getTime()).toBeGreaterThan(Date.now());
  });

  it('is taken by one replica', async () => {
    await states.sign([charge.run_id], newSignature());
    await charges.makeAllDue();
    const both = await Promise.all([charges.takeDue(10_000), charges.takeDue(10_000)]);
    const times = both.flat().filter(({ charge: { run_id: id } }) => id === charge.run_id);
    expect(times).toHaveLength(1);
  });

  it('is moved by one of many replicas at once, and only from where it is', async () => {
    const { moved, replica } = watched();
    const replicas = Array.from({ length: 10 }, replica);
    await states.sign([charge.run_id], newSignature());
    await Promise.all(replicas.map((each) => each.finalize(charge.run_id)));
    expect(moved).toEqual([]);
    await Promise.all(replicas.map((each) => each.confirm(charge.run_id)));
    await Promise.all(replicas.map((each) => each.finalize(charge.run_id)));
    await Promise.all(replicas.map((each) => each.end(charge.run_id, undefined)));
    expect(moved).toEqual(['confirmed', 'finalized']);
  });

  it('is confirmed in the transaction that indexes its balance, or not at all', async () => {
    const { moved, replica } = watched();
    const own = replica();
    const stateNow = async () => (await charges.find(charge.run_id))?.state;
    await states.sign([charge.run_id], newSignature());
    const failing = own.confirmAlongside([charge.run_id], false, (confirm) =>
      database.db.transaction().execute(async (tx) => {
        await confirm(tx);
        throw new Error('the balance cannot be stored');
      }),
    );
    await expect(failing).rejects.toThrow('the balance cannot be stored');
    expect(await stateNow()).toBe('signed');
    expect(moved).toEqual([]);
    const released = await own.confirmAlongside([charge.run_id], false, (confirm) =>
      database.db.transaction().execute(confirm),
    );
    expect([...released]).toEqual([charge.run_id]);
    expect(await stateNow()).toBe('confirmed');
    expect(moved).toEqual(['confirmed']);
  });

  it('is confirmed by itself where its balance is not to be indexed', async () => {
    await states.sign([charge.run_id], newSignature());
    const released = await states.confirmAlongside([charge.run_id], false, async () => undefined);
    expect([...released]).toEqual([charge.run_id]);
    expect((await charges.find(charge.run_id))?.state).toBe('confirmed');
  });

  it('that has ended, or was given back, is not signed: no transaction of it may be sent', async () => {
    await states.sign([charge.run_id], newSignature());
    await states.end(charge.run_id, undefined);
    expect(await states.sign([charge.run_id], newSignature())).toEqual([charge.run_id]);
    expect((await account.rows())[0]?.state).toBe('failed');
    expect(await charges.signaturesOf(charge.run_id)).toHaveLength(1);
    const released = await reserved(account, 10n);
    await states.release(released.run_id);
    expect(await states.sign([released.run_id], newSignature())).toEqual([released.run_id]);
  });

  it('shares a transaction with others: all of them are written down, or none', async () => {
    const second = await reserved(account, 10n);
    const third = await reserved(account, 10n);
    const runs = [charge, second, third].map(({ run_id: id }) => id);
    await states.release(second.run_id);
    expect(await states.sign(runs, newSignature())).toEqual([second.run_id]);
    expect((await account.rows()).map(({ state }) => state)).toEqual(['reserved', 'reserved']);
    expect(await charges.signaturesOf(charge.run_id)).toEqual([]);
    const pack = newSignature();
    const open = [charge.run_id, third.run_id];
    expect(await states.sign(open, pack)).toEqual([]);
    for (const id of open) expect(await charges.signaturesOf(id)).toEqual([pack.signature]);
    await charges.makeAllDue();
    const due = (await charges.takeDue(10_000)).filter(({ charge: { run_id: id } }) => open.includes(id));
    expect(due.map(({ signatures }) => signatures)).toEqual([[pack], [pack]]);
  });

  it('that was reserved for an ended run is given back, and no other', async () => {
    const signed = await reserved(account, 10n);
    const running = await reserved(account, 10n);
    await states.sign([signed.run_id], newSignature());
    for (const { run_id: id } of [charge, signed]) await endRun(id, 'undelivered');
    await states.releaseAbandoned();
    const left = (await account.rows()).map(({ run_id: id }) => id);
    expect(left.toSorted()).toEqual([signed.run_id, running.run_id].toSorted());
  });
});

describe('a credit', () => {
  const newRun = (wallet: string) => insertRun(database.db, listing, wallet);
  /** Tries a run without a balance; gives its id if a credit lets it in. */
  async function take(wallet: string, listingId = listing.id, on = charges): Promise<string | undefined> {
    const runId = await newRun(wallet);
    try {
      const order = { runId, wallet, listingId, balanceAddress: `none of ${wallet}`, priceLamports: 1n };
      return (await on.reserve(order)) === 'credited' ? runId : undefined;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'insufficient_balance') return undefined;
      throw error;
    }
  }
  /** A renter with a credit, and the charge that it is for. */
  async function credited(lamports = 1000n, price = 10n) {
    const account = await indexed(lamports);
    const paid = await reserved(account, price);
    await owe(paid);
    expect(await credits.give(paid.run_id)).toBe(true);
    return { account, wallet: account.wallet, paid };
  }

  it('is given once for a charged run, and used once, however many try [MON-5]', async () => {
    const account = await indexed(1000n);
    const [first, second] = [await reserved(account, 10n), await reserved(account, 10n)];
    await Promise.all([first, second].map(owe));
    await Promise.all([first, first, first, second].map(({ run_id: id }) => credits.give(id)));
    const taken = await Promise.all(Array.from({ length: 12 }, () => take(account.wallet)));
    expect(taken.filter(Boolean)).toHaveLength(2);
  });

  it('pays for one of the runs that come together, and the others are charged', async () => {
    const { account, paid } = await credited(25n, 5n);
    const results = await Promise.all(Array.from({ length: 4 }, () => account.reserve(10n)));
    expect(results.filter((result) => result === 'credited')).toHaveLength(1);
    expect(results.filter((result) => result === 'insufficient')).toHaveLength(1);
    const made = results.filter((result) => typeof result !== 'string');
    const sequences = made.map(({ sequence: one }) => one).toSorted((one, other) => Number(one - other));
    expect(sequences).toEqual([paid.sequence + 1n, paid.sequence + 2n]);
    const { isAtStart: _, ...first } = made[0]!;
    expect(await charges.find(first.run_id)).toMatchObject({ ...first, state: 'reserved' });
  });

  it('that another replica is just taking is not taken', async () => {
    const { wallet } = await credited();
    await database.db.transaction().execute(async (tx) => {
      expect(await take(wallet, listing.id, createChargeRepository(tx))).toBeDefined();
      expect(await take(wallet)).toBeUndefined();
    });
    expect(await take(wallet)).toBeUndefined();
  });

  it('is of its wallet and listing alone [MON-5]', async () => {
    const { wallet } = await credited();
    expect(await take(newWallet())).toBeUndefined();
    expect(await take(wallet, 'another-abcdef')).toBeUndefined();
    expect(await take(wallet)).toBeDefined();
  });

  it('can be used again after it was given back', async () => {
    const { wallet } = await credited();
    await credits.giveBack((await take(wallet)) ?? '');
    expect(await take(wallet)).toBeDefined();
    expect(await take(wallet)).toBeUndefined();
  });

  it('follows, once, for a charge that was final before its run was known to be lost [MON-5]', async () => {
    const account = await indexed(1000n);
    const [lost, delivered] = [await reserved(account, 10n), await reserved(account, 10n)];
    for (const { run_id: id } of [lost, delivered]) {
      await states.sign([id], newSignature());
      await states.confirm(id);
      await states.finalize(id);
    }
    await endRun(delivered.run_id, 'completed');
    await states.creditUndelivered();
    expect(await credits.has(account.wallet, listing.id)).toBe(false);
    await endRun(lost.run_id, 'undelivered');
    await Promise.all([states.creditUndelivered(), states.creditUndelivered(), states.creditUndelivered()]);
    expect((await charges.find(lost.run_id))?.state).toBe('credited');
    expect(await credits.wasGiven(delivered.run_id)).toBe(false);
    // The free run is lost in its turn: it was not used up.
    const free = (await take(account.wallet)) ?? '';
    expect(await take(account.wallet)).toBeUndefined();
    await endRun(free, 'undelivered');
    await credits.giveBackUndelivered();
    expect(await take(account.wallet)).toBeDefined();
    expect(await take(account.wallet)).toBeUndefined();
  });

  it('is not given back for a run whose answer is on record [MON-5]', async () => {
    const { wallet } = await credited();
    const free = (await take(wallet)) ?? '';
    await endRun(free, 'completed');
    await credits.giveBack(free);
    expect(await credits.has(wallet, listing.id)).toBe(false);
  });

  it('is not given for a run that was never charged, nor for one that goes on or was delivered', async () => {
    const account = await indexed(1000n);
    const signed = await reserved(account, 10n);
    await states.sign([signed.run_id], newSignature());
    await endRun(signed.run_id, 'undelivered');
    expect(await credits.give(signed.run_id)).toBe(false);
    expect(await credits.give(await newRun(account.wallet))).toBe(false);
    expect(await credits.give(randomUUID())).toBe(false);
    const paid = await reserved(account, 10n);
    await owe(paid);
    await endRun(paid.run_id, 'completed');
    expect(await credits.give(paid.run_id)).toBe(false);
  });
});

it('is suspended by the errors that the program has under those codes', () => {
  const nameOf = (constant: string) => PROGRAM_ERRORS.get(FUNCTION_CONSTANTS[constant] ?? 0)?.name;
  expect(nameOf('insufficient_balance')).toBe('InsufficientBalance');
  expect(nameOf('price_above_limit')).toBe('PriceAboveLimit');
  expect(nameOf('price_changed')).toBe('PriceChanged');
});
