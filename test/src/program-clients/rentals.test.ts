import {
  closeListing,
  createListing,
  purchaseOneTime,
  purchasePerQuery,
  purchaseSubscription,
  type RentalModel,
  renewSubscription,
  revokeAccess,
  topupBalance,
  updateListing,
} from '@agent-rental/program-client';
import { expect, it } from 'vitest';
import { DEPOSIT, FEE, Market, PRICE } from './market.js';
import { onEveryChain } from './on-every-chain.js';

const MONTH = 2_592_000n;
const QUARTER = 7_776_000n;

onEveryChain(Market.start, (at) => {
  const parties = (listingId: string) => ({
    buyer: at().buyer.publicKey,
    treasury: at().treasury.publicKey,
    listingId,
    maxPriceLamports: PRICE,
  });

  const models: { rentalModel: RentalModel; minDepositLamports: bigint }[] = [
    { rentalModel: 'one_time', minDepositLamports: 0n },
    { rentalModel: 'subscription', minDepositLamports: 0n },
    { rentalModel: 'per_query', minDepositLamports: 2n * PRICE },
  ];
  it.each(models)('lists a $rentalModel agent', async ({ rentalModel, minDepositLamports }) => {
    const market = at();
    const { creator, authority } = market;
    const listingId = `${rentalModel.replace('_', '-')}-listing`;
    const input = {
      creator: creator.publicKey,
      authority: authority.publicKey,
      listingId,
      rentalModel,
      priceLamports: PRICE,
      minDepositLamports: 2n * PRICE,
      metadataUri: 'ipfs://bafyexample',
    };
    const refusal = (changes: Partial<typeof input>) =>
      market.refusal(createListing({ ...input, ...changes }), creator, authority);
    expect(await refusal({ priceLamports: 999n })).toBe('PriceTooLow');
    expect(await refusal({ metadataUri: 'x'.repeat(201) })).toBe('MetadataUriTooLong');
    const unreviewed = createListing({ ...input, authority: creator.publicKey });
    expect(await market.refusal(unreviewed, creator)).toBe('Unauthorized');

    const { events } = await market.send(createListing(input), creator, authority);
    const { listing } = market.addresses(listingId);
    expect(events).toMatchObject([
      { name: 'ListingCreated', data: { listing, rentalModel, listingId, minDepositLamports } },
    ]);
    expect(await market.listing(listingId)).toMatchObject({
      creator: creator.publicKey,
      rentalModel,
      status: 'active',
      priceLamports: PRICE,
      minDepositLamports,
      metadataUri: 'ipfs://bafyexample',
      revision: 0n,
    });
    expect(await refusal({})).toBe('AccountDiscriminatorAlreadySet');
  });

  it('does not list an agent whose first deposit would not pay one run', async () => {
    const market = at();
    const { authority, creator } = market;
    const listing = createListing({
      creator: creator.publicKey,
      authority: authority.publicKey,
      listingId: 'unpayable-agent',
      rentalModel: 'per_query',
      priceLamports: PRICE,
      minDepositLamports: PRICE - 1n,
      metadataUri: '',
    });
    expect(await market.refusal(listing, creator, authority)).toBe('DepositTooLow');
  });

  it('sells a one-time credential once [PRG-33]', async () => {
    const market = at();
    const { buyer, treasury } = market;
    const listingId = await market.list('one-time-agent', 'one_time');
    expect(await market.hasAccess(listingId)).toBe(false);
    const tooDear = purchaseOneTime({ ...parties(listingId), maxPriceLamports: PRICE - 1n });
    expect(await market.refusal(tooDear, buyer)).toBe('PriceAboveLimit');

    const [buyerBefore, treasuryBefore] = [
      await market.lamports(buyer.publicKey),
      await market.lamports(treasury.publicKey),
    ];
    const { events, feeLamports } = await market.send(purchaseOneTime(parties(listingId)), buyer);
    expect(events).toMatchObject([
      { name: 'OneTimePurchased', data: { buyer: buyer.publicKey, priceLamports: PRICE, feeLamports: FEE } },
    ]);
    const rent = await market.lamports(market.addresses(listingId).credential);
    const paid = buyerBefore - (await market.lamports(buyer.publicKey));
    expect(paid).toBe(PRICE + rent + BigInt(feeLamports));
    expect((await market.lamports(treasury.publicKey)) - treasuryBefore).toBe(FEE);
    expect(await market.escrow(listingId)).toMatchObject({ earningsLamports: PRICE - FEE });
    expect(await market.credential(listingId)).toMatchObject({ valid: true, expiresAt: null });
    expect(await market.hasAccess(listingId)).toBe(true);
    expect(await market.refusal(purchaseOneTime(parties(listingId)), buyer)).toBe('InvalidAccessType');
  });

  it('sells a subscription, lets it expire and renews it [PRG-20]', async () => {
    const market = at();
    const { buyer } = market;
    const listingId = await market.list('subscription-agent', 'subscription');
    const window = (durationSeconds: bigint, maxPriceLamports: bigint) => ({
      ...parties(listingId),
      durationSeconds,
      maxPriceLamports,
    });
    expect(await market.refusal(purchaseSubscription(window(MONTH + 1n, 9n * PRICE)), buyer)).toBe(
      'InvalidDuration',
    );
    expect(await market.refusal(renewSubscription(window(MONTH, PRICE)), buyer)).toBe('CredentialNotFound');
    const before = await market.now();
    const { events } = await market.send(purchaseSubscription(window(MONTH, PRICE)), buyer);
    const { purchasedAt, expiresAt } = await market.credential(listingId);
    expect(purchasedAt).toBeGreaterThanOrEqual(before);
    expect(expiresAt).toBe(purchasedAt + MONTH);
    expect(events).toMatchObject([
      { name: 'SubscriptionPurchased', data: { priceLamports: PRICE, expiresAt } },
    ]);
    expect((await market.listing(listingId)).latestSubscriptionExpiry).toBe(expiresAt);

    // A longer window now, then a shorter one, which would take time away.
    await market.send(renewSubscription(window(QUARTER, 3n * PRICE)), buyer);
    expect(await market.refusal(renewSubscription(window(MONTH, PRICE)), buyer)).toBe('InvalidDuration');
    await market.chain.passTime(QUARTER + 60n);
    expect(await market.hasAccess(listingId)).toBe(false);
    expect(await market.refusal(purchaseSubscription(window(MONTH, PRICE)), buyer)).toBe('CredentialExpired');
    const renewed = await market.send(renewSubscription(window(MONTH, PRICE)), buyer);
    expect(renewed.events).toMatchObject([{ name: 'SubscriptionRenewed', data: { priceLamports: PRICE } }]);
    expect(await market.hasAccess(listingId)).toBe(true);
    expect((await market.credential(listingId)).purchasedAt).toBe(purchasedAt);
  });

  it('takes a deposit, charges it, and never above the agreed price', async () => {
    const market = at();
    const { authority, buyer, creator } = market;
    const listingId = await market.list('per-query-agent', 'per_query');
    const purchase = (depositLamports: bigint) =>
      purchasePerQuery({ ...parties(listingId), depositLamports });
    expect(await market.refusal(purchase(PRICE - 1n), buyer)).toBe('DepositTooLow');
    await market.send(purchase(DEPOSIT), buyer);
    expect(await market.balance(listingId)).toMatchObject({
      balanceLamports: DEPOSIT,
      maxPriceLamports: PRICE,
    });
    await market.send(market.charge(listingId, 1n), authority);

    const dearer = { creator: creator.publicKey, listingId, priceLamports: 2n * PRICE };
    expect(await market.refusal(updateListing(dearer), creator)).toBe('DepositTooLow');
    await market.send(updateListing({ ...dearer, minDepositLamports: 2n * PRICE }), creator);
    const charge = (sequence: bigint, priceLamports: bigint) =>
      market.charge(listingId, sequence, { priceLamports });
    expect(await market.refusal(charge(2n, 2n * PRICE), authority)).toBe('PriceAboveLimit');
    expect(await market.refusal(charge(2n, 3n * PRICE), authority)).toBe('PriceChanged');
    expect(await market.hasAccess(listingId)).toBe(false);
    const topup = { ...parties(listingId), amountLamports: 0n };
    expect(await market.refusal(topupBalance(topup), buyer)).toBe('PriceAboveLimit');
    const accepted = await market.send(topupBalance({ ...topup, maxPriceLamports: 2n * PRICE }), buyer);
    expect(accepted.events).toMatchObject([
      { name: 'BalanceToppedUp', data: { amountLamports: 0n, balanceLamports: DEPOSIT - PRICE } },
    ]);
    const charged = await market.send(charge(2n, 2n * PRICE), authority);
    expect(charged.events).toMatchObject([
      { name: 'QueryConsumed', data: { sequence: 2n, priceLamports: 2n * PRICE, feeLamports: 2n * FEE } },
    ]);
    await market.send(topupBalance({ ...topup, amountLamports: PRICE, maxPriceLamports: 2n * PRICE }), buyer);
    expect(await market.balance(listingId)).toMatchObject({
      balanceLamports: DEPOSIT - 2n * PRICE,
      totalDepositedLamports: DEPOSIT + PRICE,
      totalSpentLamports: 3n * PRICE,
      maxPriceLamports: 2n * PRICE,
    });
  });

  it('has too little money exactly when the balance does not cover the price', async () => {
    const market = at();
    const { authority } = market;
    const listingId = await market.prepaid('short-balance-agent', market.buyer, 2n * PRICE + 1n);
    await market.send(market.charge(listingId, 1n), authority);
    await market.send(market.charge(listingId, 2n), authority);
    expect(await market.refusal(market.charge(listingId, 3n), authority)).toBe('InsufficientBalance');
    expect(await market.hasAccess(listingId)).toBe(false);
    expect(await market.balance(listingId)).toMatchObject({ balanceLamports: 1n, highestSequence: 2n });
  });

  it('pauses and resumes a listing, whose renters keep their access [PRG-24]', async () => {
    const market = at();
    const { authority, buyer, creator } = market;
    const other = await market.wallet('another buyer');
    const listingId = await market.prepaid('paused-agent');
    const status = (to: 'active' | 'paused') =>
      updateListing({ creator: creator.publicKey, listingId, status: to });
    const { events } = await market.send(status('paused'), creator);
    expect(events).toMatchObject([{ name: 'ListingUpdated', data: { paused: true, revision: 1n } }]);
    const input = { ...parties(listingId), depositLamports: DEPOSIT, amountLamports: PRICE };
    const purchase = purchasePerQuery({ ...input, buyer: other.publicKey });
    expect(await market.refusal(purchase, other)).toBe('ListingNotActive');
    expect(await market.refusal(topupBalance(input), buyer)).toBe('ListingNotActive');
    expect(await market.hasAccess(listingId)).toBe(true);
    await market.send(market.charge(listingId, 1n), authority);
    await market.send(status('active'), creator);
    await market.send(purchase, other);
    expect(await market.listing(listingId)).toMatchObject({ status: 'active', pausedAt: null, revision: 2n });
  });

  it('leaves a revoked subscriber nothing to renew', async () => {
    const market = at();
    const { admin, buyer, creator } = market;
    const listingId = await market.list('revoked-agent', 'subscription');
    const window = { ...parties(listingId), durationSeconds: MONTH };
    await market.send(purchaseSubscription(window), buyer);
    const revoke = (by: typeof admin) =>
      revokeAccess({ admin: by.publicKey, buyer: buyer.publicKey, listingId });
    expect(await market.refusal(revoke(creator), creator)).toBe('Unauthorized');
    const { events } = await market.send(revoke(admin), admin);
    expect(events).toMatchObject([{ name: 'AccessRevoked', data: { buyer: buyer.publicKey } }]);
    expect(await market.credential(listingId)).toMatchObject({ valid: false });
    expect(await market.hasAccess(listingId)).toBe(false);
    expect(await market.refusal(renewSubscription(window), buyer)).toBe('CredentialRevoked');
    expect(await market.refusal(purchaseSubscription(window), buyer)).toBe('CredentialRevoked');
    expect(await market.refusal(revoke(admin), admin)).toBe('CredentialRevoked');
    const close = closeListing({ creator: creator.publicKey, listingId });
    expect(await market.refusal(close, creator)).toBe('ActiveSubscribers');
  });
});
