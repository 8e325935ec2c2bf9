import {
  closeListing,
  purchaseOneTime,
  RECLAIM_AFTER_PAUSED_SECONDS,
  revokePerQueryAccess,
  topupBalance,
  updateListing,
  withdrawEarnings,
} from '@agent-rental/program-client';
import type { Keypair } from '@solana/web3.js';
import { expect, it } from 'vitest';
import { DEPOSIT, FEE, Market, PRICE } from './market.js';
import { onEveryChain } from './on-every-chain.js';

onEveryChain(Market.start, (at) => {
  const endAccess = (listingId: string, revoker: Keypair) =>
    revokePerQueryAccess({ revoker: revoker.publicKey, buyer: at().buyer.publicKey, listingId });

  it('returns balance and rent when the creator revokes', async () => {
    const market = at();
    const { authority, buyer, creator } = market;
    const stranger = await market.wallet('stranger');
    const listingId = await market.prepaid('revoking-agent');
    await market.send(market.charge(listingId, 1n), authority);
    expect(await market.refusal(endAccess(listingId, stranger), stranger)).toBe('Unauthorized');
    expect(await market.refusal(endAccess(listingId, buyer), buyer)).toBe('Unauthorized');

    const { balance } = market.addresses(listingId);
    const held = await market.lamports(balance);
    const before = await market.lamports(buyer.publicKey);
    const { events } = await market.send(endAccess(listingId, creator), creator);
    expect(events).toMatchObject([
      { name: 'PerQueryAccessRevoked', data: { refundedLamports: DEPOSIT - PRICE, revoked: true } },
    ]);
    expect((await market.lamports(buyer.publicKey)) - before).toBe(held);
    expect(await market.exists(balance)).toBe(false);
    expect(await market.credential(listingId)).toMatchObject({ valid: false });
    expect(await market.hasAccess(listingId)).toBe(false);
    expect(await market.refusal(market.charge(listingId, 2n), authority)).toBe('CredentialRevoked');
  });

  it('lets a renter reclaim the balance of a long-paused listing, and top it up later', async () => {
    const market = at();
    const { authority, buyer, creator } = market;
    const listingId = await market.prepaid('abandoned-agent');
    const update = (status: 'active' | 'paused') =>
      updateListing({ creator: creator.publicKey, listingId, status });
    await market.send(update('paused'), creator);
    await market.chain.passTime(RECLAIM_AFTER_PAUSED_SECONDS - 600n);
    expect(await market.refusal(endAccess(listingId, buyer), buyer)).toBe('Unauthorized');
    await market.chain.passTime(660n);

    const before = await market.lamports(buyer.publicKey);
    const { events, feeLamports } = await market.send(endAccess(listingId, buyer), buyer);
    expect(events).toMatchObject([
      { name: 'PerQueryAccessRevoked', data: { refundedLamports: DEPOSIT, revoked: false } },
    ]);
    expect((await market.lamports(buyer.publicKey)) - before).toBe(DEPOSIT - BigInt(feeLamports));
    expect(await market.refusal(endAccess(listingId, buyer), buyer)).toBe('NothingToWithdraw');
    expect(await market.hasAccess(listingId)).toBe(false);

    await market.send(update('active'), creator);
    const topup = {
      buyer: buyer.publicKey,
      listingId,
      amountLamports: PRICE,
      maxPriceLamports: PRICE,
    };
    await market.send(topupBalance(topup), buyer);
    expect(await market.hasAccess(listingId)).toBe(true);
    await market.send(market.charge(listingId, 1n), authority);
  });

  it('lets a renter reclaim after pauses that add up, and after a rise of the price', async () => {
    const market = at();
    const { buyer, creator } = market;
    const listingId = await market.prepaid('hostage-agent');
    const update = (changes: object) => updateListing({ creator: creator.publicKey, listingId, ...changes });
    for (const seconds of [RECLAIM_AFTER_PAUSED_SECONDS - 600n, 660n]) {
      expect(await market.refusal(endAccess(listingId, buyer), buyer)).toBe('Unauthorized');
      await market.send(update({ status: 'paused' }), creator);
      await market.chain.passTime(seconds);
      await market.send(update({ status: 'active' }), creator);
    }
    const reclaimed = await market.send(endAccess(listingId, buyer), buyer);
    expect(reclaimed.events).toMatchObject([{ data: { refundedLamports: DEPOSIT, revoked: false } }]);

    const other = await market.prepaid('dearer-agent');
    const raised = { priceLamports: PRICE + 1n, minDepositLamports: PRICE + 1n };
    await market.send(updateListing({ creator: creator.publicKey, listingId: other, ...raised }), creator);
    const back = await market.send(endAccess(other, buyer), buyer);
    expect(back.events).toMatchObject([{ data: { refundedLamports: DEPOSIT, revoked: false } }]);
  });

  it('pays earnings out, in parts and then the rest', async () => {
    const market = at();
    const { authority, buyer, creator } = market;
    const listingId = await market.prepaid('earning-agent');
    await market.send(market.charge(listingId, 1n), authority);
    await market.send(market.charge(listingId, 2n), authority);
    const earned = 2n * (PRICE - FEE);
    const withdraw = (amountLamports?: bigint, by = creator) =>
      withdrawEarnings({ creator: by.publicKey, listingId, amountLamports });
    expect(await market.refusal(withdraw(undefined, buyer), buyer)).toBe('Unauthorized');
    expect(await market.refusal(withdraw(earned + 1n), creator)).toBe('WithdrawalExceedsBalance');
    expect(await market.refusal(withdraw(0n), creator)).toBe('NothingToWithdraw');

    const before = await market.lamports(creator.publicKey);
    const part = await market.send(withdraw(PRICE), creator);
    expect(part.events).toMatchObject([
      { name: 'EarningsWithdrawn', data: { amountLamports: PRICE, remainingLamports: earned - PRICE } },
    ]);
    const rest = await market.send(withdraw(), creator);
    const fees = BigInt(part.feeLamports + rest.feeLamports);
    expect((await market.lamports(creator.publicKey)) - before).toBe(earned - fees);
    expect(await market.refusal(withdraw(), creator)).toBe('NothingToWithdraw');
    expect(await market.escrow(listingId)).toMatchObject({
      earningsLamports: 0n,
      totalEarnedLamports: earned,
    });
  });

  it('closes a listing once its earnings are out, and its renters take everything back', async () => {
    const market = at();
    const { authority, buyer, creator } = market;
    const listingId = await market.prepaid('closing-agent');
    await market.send(market.charge(listingId, 1n), authority);
    const close = (by = creator) => closeListing({ creator: by.publicKey, listingId });
    expect(await market.refusal(close(buyer), buyer)).toBe('Unauthorized');
    expect(await market.refusal(close(), creator)).toBe('EscrowNotEmpty');

    // In one transaction, as a creator would: both instructions or none.
    const withdraw = withdrawEarnings({ creator: creator.publicKey, listingId });
    const { events } = await market.sender.succeed([withdraw, close()], [creator]);
    expect(events.map(({ name }) => name)).toEqual(['EarningsWithdrawn', 'ListingClosed']);
    expect(await market.listing(listingId)).toMatchObject({ status: 'closed' });
    expect(await market.hasAccess(listingId)).toBe(false);
    expect(await market.refusal(close(), creator)).toBe('ListingNotActive');
    expect(await market.refusal(market.charge(listingId, 2n), authority)).toBe('ListingNotActive');
    const purchase = {
      buyer: creator.publicKey,
      listingId,
      treasury: market.treasury.publicKey,
      maxPriceLamports: PRICE,
    };
    expect(await market.refusal(purchaseOneTime(purchase), creator)).toBe('ListingNotActive');

    const held = await market.lamports(market.addresses(listingId).balance);
    const before = await market.lamports(buyer.publicKey);
    const reclaimed = await market.send(endAccess(listingId, buyer), buyer);
    expect((await market.lamports(buyer.publicKey)) - before).toBe(held - BigInt(reclaimed.feeLamports));
  });
});
