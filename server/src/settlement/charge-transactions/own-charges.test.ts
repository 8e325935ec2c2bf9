import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { afterAll, expect, it } from 'vitest';
import { openTestDatabase, startTestMarket } from '../../testing/index.js';
import { createOwnCharges } from './own-charges.js';

const PRICE = 1_000_000n;

const database = await openTestDatabase();
const market = await startTestMarket(database);
afterAll(async () => {
  await market.close();
  await database.close();
});

it('an own charge is known with every account of the program that it changed, alone or in a pack', async () => {
  const listing = await market.list(PRICE);
  const renters = [
    await market.rent(listing, 10n * PRICE, PRICE),
    await market.rent(listing, 10n * PRICE, PRICE),
  ];
  const settlement = market.settlement();
  const signatures = new Set<string>();
  for (const together of [renters.slice(0, 1), renters]) {
    const charges = [];
    for (const renter of together) charges.push(await market.reserve(listing, renter.publicKey, PRICE));
    const due = Promise.resolve(true);
    await Promise.all(charges.map((charge) => settlement.charge(charge, due).confirmed));
    for (const { run_id: id } of charges) {
      for (const signature of await market.charges.signaturesOf(id)) signatures.add(signature);
    }
  }
  expect(signatures.size).toBe(2);
  const known = await createOwnCharges(database.db, MARKETPLACE_PROGRAM_ID)([...signatures, 'of others']);
  expect([...known.keys()].toSorted()).toEqual([...signatures].toSorted());
  for (const signature of signatures) {
    const changed = (await market.chain.changedAccounts(signature)) ?? [];
    const { accounts } = await market.chain.getAccounts(changed);
    const ofProgram = changed.filter((_, index) => accounts[index]?.owner.equals(MARKETPLACE_PROGRAM_ID));
    const unique = new Set(known.get(signature)?.map((key) => key.toBase58()));
    expect([...unique].toSorted()).toEqual(ofProgram.map((key) => key.toBase58()).toSorted());
  }
});
