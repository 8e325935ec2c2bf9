import {
  decodeEscrow,
  decodePerQueryBalance,
  findEscrowAddress,
  MARKETPLACE_PROGRAM_ID,
  revokePerQueryAccess,
} from '@agent-rental/program-client';
import { PublicKey, type Keypair } from '@solana/web3.js';
import { afterAll, describe, expect, it } from 'vitest';
import { createProgramHistory } from '../../chain/index.js';
import {
  balanceAddressOf,
  openTestDatabase,
  startTestMarket,
  type MarketListing,
} from '../../testing/index.js';
import type { ReservedCharge } from '../charge.js';
import { chargedRuns } from './charged-runs.js';

const PRICE = 1_000_000n;
const DEPOSIT = 10n * PRICE;
const now = Promise.resolve(true);

const database = await openTestDatabase();
const market = await startTestMarket(database);
afterAll(async () => {
  await market.close();
  await database.close();
});

/** A listing with renters, each with a charge that is set aside. */
async function reservedCharges(count: number) {
  const listing = await market.list(PRICE);
  const renters = await Promise.all(
    Array.from({ length: count }, () => market.rent(listing, DEPOSIT, PRICE)),
  );
  const charges: ReservedCharge[] = [];
  for (const renter of renters) charges.push(await market.reserve(listing, renter.publicKey, PRICE));
  return { listing, renters, charges };
}

async function spentBy(listing: MarketListing, renter: Keypair): Promise<bigint> {
  const address = new PublicKey(balanceAddressOf(renter.publicKey.toBase58(), listing.address));
  const account = await market.connection.getAccountInfo(address);
  return account === null ? 0n : DEPOSIT - decodePerQueryBalance(account.data).balanceLamports;
}

async function earnedOf(listing: MarketListing): Promise<bigint> {
  const { address } = findEscrowAddress(new PublicKey(listing.address));
  const account = await market.connection.getAccountInfo(address);
  return account === null ? 0n : decodeEscrow(account.data).totalEarnedLamports;
}

const ids = (charges: readonly ReservedCharge[]) => charges.map(({ run_id: id }) => id);

/** Charges them together; gives the transaction. */
async function chargeAll(charges: readonly ReservedCharge[]): Promise<string> {
  const settlement = market.settlement();
  await Promise.all(charges.map((charge) => settlement.charge(charge, now).confirmed));
  const [signature = ''] = await market.charges.signaturesOf(charges[0]?.run_id ?? '');
  return signature;
}

/** The creator takes the access of one renter between the reservation and the charge. */
const revoke = (listing: MarketListing, { publicKey: buyer }: Keypair) =>
  market.send(
    [revokePerQueryAccess({ revoker: listing.creator.publicKey, buyer, listingId: listing.id })],
    listing.creator,
  );

const statesOf = (charges: readonly ReservedCharge[]) =>
  Promise.all(charges.map(async ({ run_id: id }) => (await market.charges.find(id))?.state));
const signaturesOf = (charges: readonly ReservedCharge[]) =>
  Promise.all(charges.map(({ run_id: id }) => market.charges.signaturesOf(id)));

/** Writes a pack down as the settlement does, and sends nothing: the process has ended in between. */
async function writeUnsent(charges: readonly ReservedCharge[]): Promise<string> {
  const signed = await market.signer.sign(charges);
  expect(await market.states.sign(ids(charges), signed)).toEqual([]);
  return signed.signature;
}

describe('a pack of charges on the program', () => {
  it('charges each of its runs once, and each run’s receipt names the transaction that has its instruction [MON-9]', async () => {
    const { listing, renters, charges } = await reservedCharges(5);
    const settlement = market.settlement();
    const paid = await Promise.all(charges.map((charge) => settlement.charge(charge, now).confirmed));
    expect(paid).toEqual(charges.map(() => PRICE));
    for (const renter of renters) expect(await spentBy(listing, renter)).toBe(PRICE);
    const receipts = await Promise.all(charges.map(({ run_id: id }) => settlement.paidFor(id)));
    const [signature = '', ...others] = new Set(receipts.map((receipt) => receipt?.signature));
    expect(others).toEqual([]);
    const landed = await market.connection.getTransaction(signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    });
    expect(landed?.meta?.err).toBeNull();
    const [due] = (await market.charges.takeDue(1_000)).filter(
      ({ charge }) => charge.run_id === charges[0]?.run_id,
    );
    const [written] = due?.signatures ?? [];
    const runs = chargedRuns(written?.signedBytes ?? Buffer.alloc(0)).map(({ runId }) => runId);
    expect(runs.toSorted()).toEqual(ids(charges).toSorted());
  });

  it('is one instruction, in which each charge is found from the chain alone, with its balance [MON-9]', async () => {
    const { listing, renters, charges } = await reservedCharges(3);
    const signature = await chargeAll(charges);
    await market.finalize();
    const landed = await market.connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    const message = landed?.transaction.message;
    const calls = message?.compiledInstructions.filter(({ programIdIndex }) =>
      message.staticAccountKeys[programIdIndex]?.equals(MARKETPLACE_PROGRAM_ID),
    );
    expect(calls).toHaveLength(1);
    const history = createProgramHistory(market.connection.rpcEndpoint, MARKETPLACE_PROGRAM_ID);
    const found = await history.chargesIn(signature);
    expect(found?.toSorted((a, b) => a.runId.localeCompare(b.runId))).toEqual(
      charges
        .map(({ run_id: runId, sequence }, index) => ({
          runId,
          balance: balanceAddressOf(renters[index]?.publicKey.toBase58() ?? '', listing.address),
          priceLamports: PRICE,
          sequence,
        }))
        .toSorted((a, b) => a.runId.localeCompare(b.runId)),
    );
  });

  it('fails as a whole when one is refused; then each other is charged alone, once [MON-9]', async () => {
    const { listing, renters, charges } = await reservedCharges(4);
    await revoke(listing, renters[0]!);
    const settlement = market.settlement();
    const results = await Promise.allSettled(
      charges.map((charge) => settlement.charge(charge, now).confirmed),
    );
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
    for (const renter of renters.slice(1)) expect(await spentBy(listing, renter)).toBe(PRICE);
    const signatures = await signaturesOf(charges);
    // The pack, and a separate transaction for each charge that the program takes.
    expect(signatures.map((each) => each.length)).toEqual([1, 2, 2, 2]);
    expect(new Set(signatures.map(([pack]) => pack)).size).toBe(1);
    expect(new Set(signatures.flat()).size).toBe(4);
    await market.finalize();
    await market.reconcile();
    expect(await statesOf(charges)).toEqual(['failed', 'finalized', 'finalized', 'finalized']);
    expect((await market.charges.find(charges[0]?.run_id ?? ''))?.failure_code).not.toBeNull();
  });

  it('that was written and not sent is sent by the reconciler, and charges each run once', async () => {
    const { listing, renters, charges } = await reservedCharges(3);
    await writeUnsent(charges);
    await market.reconcile();
    await market.reconcile();
    expect(await statesOf(charges)).toEqual(charges.map(() => 'confirmed'));
    for (const renter of renters) expect(await spentBy(listing, renter)).toBe(PRICE);
  });

  it('that can land no more is replaced by a transaction for each charge [MON-9]', async () => {
    const { listing, renters, charges } = await reservedCharges(3);
    await writeUnsent(charges);
    await market.expire();
    await market.reconcile();
    const signatures = await signaturesOf(charges);
    expect(signatures.map((each) => each.length)).toEqual([2, 2, 2]);
    expect(new Set(signatures.map((each) => each.at(-1))).size).toBe(3);
    await market.reconcile();
    expect(await statesOf(charges)).toEqual(charges.map(() => 'confirmed'));
    for (const renter of renters) expect(await spentBy(listing, renter)).toBe(PRICE);
  });

  it('that failed before a crash ends the refused charge, and charges the others alone [MON-9]', async () => {
    const { listing, renters, charges } = await reservedCharges(3);
    await revoke(listing, renters[2]!);
    await writeUnsent(charges);
    await market.reconcile();
    await market.finalize();
    await market.reconcile();
    await market.reconcile();
    expect(await statesOf(charges)).toEqual(['confirmed', 'confirmed', 'failed']);
    for (const renter of renters.slice(0, 2)) expect(await spentBy(listing, renter)).toBe(PRICE);
  });

  it('that a fork drops is landed again, and charges each run once', async () => {
    const { listing, renters, charges } = await reservedCharges(3);
    const signature = await chargeAll(charges);
    const before = await earnedOf(listing);
    await market.drop(signature);
    expect(await earnedOf(listing)).toBeLessThan(before);
    await market.reconcile();
    await market.finalize();
    await market.reconcile();
    expect(await statesOf(charges)).toEqual(charges.map(() => 'finalized'));
    expect(await earnedOf(listing)).toBe(before);
    for (const renter of renters) expect(await spentBy(listing, renter)).toBe(PRICE);
  });
});
