import {
  createListing,
  findProtocolAddress,
  purchaseOneTime,
  updateProtocol,
  withdrawEarnings,
} from '@agent-rental/program-client';
import { expect, it } from 'vitest';
import { Market, PRICE } from './market.js';
import { onEveryChain } from './on-every-chain.js';

onEveryChain(Market.open, (at) => {
  it('is initialised once, by the upgrade authority alone', async () => {
    const market = at();
    const { admin, authority, treasury, upgradeAuthority } = market;
    expect(await market.refusal(market.initialization(admin), admin)).toBe('Unauthorized');
    const { events } = await market.send(market.initialization(), upgradeAuthority);
    expect(events.map(({ name }) => name)).toEqual(['ProtocolInitialized']);
    expect(await market.protocol()).toMatchObject({
      admin: admin.publicKey,
      pendingAdmin: null,
      authority: authority.publicKey,
      nextAuthority: null,
      treasury: treasury.publicKey,
      feeBps: 250,
      minQueryPriceLamports: 200_000n,
      paused: false,
    });
    expect(await market.refusal(market.initialization(), upgradeAuthority)).toBe(
      'AccountDiscriminatorAlreadySet',
    );
  });

  it('is changed by its admin, within limits', async () => {
    const market = at();
    const { admin, authority } = market;
    const update = (changes: object, signer = admin) =>
      updateProtocol({ admin: signer.publicKey, ...changes });
    expect(await market.refusal(update({ feeBps: 300 }, authority), authority)).toBe('Unauthorized');
    expect(await market.refusal(update({ feeBps: 1_001 }), admin)).toBe('FeeTooHigh');
    expect(await market.refusal(update({ minQueryPriceLamports: 999n }), admin)).toBe('PriceTooLow');
    expect(await market.refusal(update({ minQueryPriceLamports: 2n ** 60n }), admin)).toBe(
      'ArithmeticOverflow',
    );
    const program = { treasury: findProtocolAddress().address };
    expect(await market.refusal(update(program), admin)).toBe('AccountNotSystemOwned');
    const { events } = await market.send(update({ feeBps: 1_000, minQueryPriceLamports: 5_000n }), admin);
    expect(events).toMatchObject([
      { name: 'ProtocolUpdated', data: { feeBps: 1_000, minQueryPriceLamports: 5_000n, paused: false } },
    ]);
    await market.send(update({ feeBps: 250, minQueryPriceLamports: 200_000n }), admin);
  });

  it('pays fees to a new treasury, and to the old one no longer', async () => {
    const market = at();
    const { admin, buyer, treasury } = market;
    const newTreasury = await market.wallet('new treasury');
    const listingId = await market.list('treasury-agent', 'one_time');
    await market.send(updateProtocol({ admin: admin.publicKey, treasury: newTreasury.publicKey }), admin);
    const buy = (to: typeof treasury) =>
      purchaseOneTime({ buyer: buyer.publicKey, listingId, treasury: to.publicKey, maxPriceLamports: PRICE });
    expect(await market.refusal(buy(treasury), buyer)).toBe('ConstraintHasOne');
    const before = await market.lamports(newTreasury.publicKey);
    await market.send(buy(newTreasury), buyer);
    expect((await market.lamports(newTreasury.publicKey)) - before).toBe(25_000n);
    await market.send(updateProtocol({ admin: admin.publicKey, treasury: treasury.publicKey }), admin);
  });

  it('while paused refuses sales and new listings, and traps no money [PRG-24]', async () => {
    const market = at();
    const { admin, authority, buyer, creator, treasury } = market;
    const listingId = await market.prepaid('paused-protocol-agent');
    const forSale = await market.list('unsold-agent', 'one_time');
    await market.send(updateProtocol({ admin: admin.publicKey, paused: true }), admin);
    const purchase = purchaseOneTime({
      buyer: buyer.publicKey,
      listingId: forSale,
      treasury: treasury.publicKey,
      maxPriceLamports: PRICE,
    });
    expect(await market.refusal(purchase, buyer)).toBe('ProtocolPaused');
    const listing = createListing({
      creator: creator.publicKey,
      authority: authority.publicKey,
      listingId: 'too-late-agent',
      rentalModel: 'one_time',
      priceLamports: PRICE,
      minDepositLamports: 0n,
      metadataUri: '',
    });
    expect(await market.refusal(listing, creator, authority)).toBe('ProtocolPaused');
    await market.send(market.charge(listingId, 1n), authority);
    await market.send(withdrawEarnings({ creator: creator.publicKey, listingId }), creator);
    await market.send(updateProtocol({ admin: admin.publicKey, paused: false }), admin);
  });

  it('accepts the next authority beside the present one, until the rotation ends', async () => {
    const market = at();
    const { admin, authority } = market;
    const next = await market.wallet('next authority');
    const listingId = await market.prepaid('rotation-agent');
    const chargeBy = (by: typeof next, sequence: bigint) =>
      market.charge(listingId, sequence, { authority: by });

    expect(await market.refusal(chargeBy(next, 1n), next)).toBe('Unauthorized');
    await market.send(updateProtocol({ admin: admin.publicKey, nextAuthority: next.publicKey }), admin);
    await market.send(chargeBy(authority, 1n), authority);
    await market.send(chargeBy(next, 2n), next);
    const finish = { authority: next.publicKey, nextAuthority: null };
    await market.send(updateProtocol({ admin: admin.publicKey, ...finish }), admin);
    expect(await market.refusal(chargeBy(authority, 3n), authority)).toBe('Unauthorized');
    await market.send(chargeBy(next, 3n), next);
    expect(await market.protocol()).toMatchObject({ authority: next.publicKey, nextAuthority: null });
    await market.send(updateProtocol({ admin: admin.publicKey, authority: authority.publicKey }), admin);
  });

  it('is handed over in two steps', async () => {
    const market = at();
    const { admin } = market;
    const heir = await market.wallet('heir');
    const accept = updateProtocol({ admin: heir.publicKey });
    expect(await market.refusal(accept, heir)).toBe('Unauthorized');
    await market.send(updateProtocol({ admin: admin.publicKey, pendingAdmin: heir.publicKey }), admin);
    await market.send(updateProtocol({ admin: admin.publicKey, pendingAdmin: null }), admin);
    expect(await market.refusal(accept, heir)).toBe('Unauthorized');
    await market.send(updateProtocol({ admin: admin.publicKey, pendingAdmin: heir.publicKey }), admin);
    expect(await market.protocol()).toMatchObject({ admin: admin.publicKey, pendingAdmin: heir.publicKey });
    await market.send(accept, heir);
    expect(await market.protocol()).toMatchObject({ admin: heir.publicKey, pendingAdmin: null });
    expect(await market.refusal(updateProtocol({ admin: admin.publicKey }), admin)).toBe('Unauthorized');
  });
});
