import { TransactionInstruction, type PublicKey } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { ACCOUNT_SIZES } from '../accounts/accounts.js';
import { revokeAccess, verifyAccess } from './access.js';
import { topupBalance } from './rental.js';
import { RECLAIM_AFTER_PAUSED_SECONDS } from '../accounts/reclaim.js';
import { expectRefusal } from '../testing/expect-refusal.js';
import type { RentalModel } from '../rental-model.js';
import { DEPOSIT, Market, MONTH, PRICE } from '../testing/market.js';

function rented(model: RentalModel) {
  const market = new Market();
  const listingId = market.list(model);
  market.rent(listingId);
  const { chain, buyer } = market;
  const revoke = (admin: PublicKey = market.admin, id = listingId) =>
    revokeAccess({ admin, buyer, listingId: id });
  return { market, chain, listingId, revoke, at: market.addresses(listingId) };
}

describe('revoke_access', () => {
  it.each(['one_time', 'subscription'] as const)('ends a %s credential for ever [PRG-13]', (model) => {
    const { market, chain, listingId, revoke, at } = rented(model);
    expect(market.hasAccess(listingId)).toBe(true);
    const { events } = chain.succeed(revoke());
    expect(market.credential(listingId).valid).toBe(false);
    expect(market.hasAccess(listingId)).toBe(false);
    expect(events).toEqual([{ name: 'AccessRevoked', data: { listing: at.listing, buyer: market.buyer } }]);
    expectRefusal(chain.send(revoke()), 'CredentialRevoked');
  });

  it('is for the admin alone: no creator revokes a buyer who paid [PRG-13]', () => {
    const { market, chain, revoke } = rented('one_time');
    for (const other of [market.creator, market.authority, market.buyer, chain.upgradeAuthority]) {
      expectRefusal(chain.send(revoke(other)), 'Unauthorized');
    }
  });

  it('leaves per-query access to its own instruction, and needs a credential', () => {
    const { market, chain, listingId, revoke } = rented('per_query');
    expectRefusal(chain.send(revoke(market.admin, market.list('per_query'))), 'CredentialNotFound');
    expectRefusal(chain.send(revoke()), 'InvalidAccessType');
    expect(market.hasAccess(listingId)).toBe(true);
  });

  it('works while everything is paused, and on a closed listing', () => {
    const { market, chain, listingId, revoke } = rented('one_time');
    chain.succeed(market.withdraw(listingId), market.close(listingId));
    market.updateProtocol({ paused: true });
    chain.succeed(revoke());
  });
});

describe('revoke_per_query_access', () => {
  function setup() {
    const { market, ...more } = rented('per_query');
    return { ...more, market, revoke: (revoker: PublicKey) => market.revoke(more.listingId, revoker) };
  }

  it.each(['admin', 'creator'] as const)(
    'by the %s returns balance and rent and leaves a tombstone [PRG-31, PRG-46]',
    (role) => {
      const { market, listingId, revoke, chain, at } = setup();
      chain.succeed(market.charge(listingId, 1n));
      chain.fund(at.balance, 777n);
      const before = chain.lamports(market.buyer);
      const { events } = chain.succeed(revoke(market[role]));
      const refund = DEPOSIT - PRICE;
      expect(chain.lamports(market.buyer)).toBe(
        before + refund + chain.rent(ACCOUNT_SIZES.PerQueryBalance) + 777n,
      );
      expect(chain.account(at.balance)?.data.length ?? 0).toBe(0);
      expect(market.credential(listingId).valid).toBe(false);
      expect(events).toEqual([
        {
          name: 'PerQueryAccessRevoked',
          data: { listing: at.listing, buyer: market.buyer, refundedLamports: refund, revoked: true },
        },
      ]);
      expectRefusal(chain.send(market.charge(listingId, 2n)), 'CredentialRevoked');
      expectRefusal(chain.send(revoke(market.admin)), 'CredentialRevoked');
    },
  );

  it('is for the admin and the creator, and for the buyer only under its conditions [PRG-31, PRG-45]', () => {
    const { market, listingId, revoke, chain } = setup();
    for (const revoker of [market.authority, market.treasury, chain.wallet(), market.buyer]) {
      expectRefusal(chain.send(revoke(revoker)), 'Unauthorized');
    }
    market.updateListing(listingId, { status: 'paused' });
    const pausedAt = chain.now();
    expectRefusal(chain.send(revoke(market.buyer)), 'Unauthorized');
    chain.setTime(pausedAt + RECLAIM_AFTER_PAUSED_SECONDS - 1n);
    expectRefusal(chain.send(revoke(market.buyer)), 'Unauthorized');
    chain.setTime(pausedAt + RECLAIM_AFTER_PAUSED_SECONDS);
    expectRefusal(chain.send(revoke(chain.wallet())), 'Unauthorized');
    chain.succeed(revoke(market.buyer));
  });

  it('lets the buyer of a long-paused listing take the balance out and come back [PRG-31]', () => {
    const { market, listingId, revoke, chain, at } = setup();
    chain.succeed(market.charge(listingId, 5n));
    market.updateListing(listingId, { status: 'paused' });
    chain.setTime(chain.now() + RECLAIM_AFTER_PAUSED_SECONDS + 1n);
    chain.fund(at.balance, 55n);
    const before = chain.lamports(market.buyer);
    const { events } = chain.succeed(revoke(market.buyer));
    expect(chain.lamports(market.buyer)).toBe(before + DEPOSIT - PRICE);
    expect(events[0]?.data).toMatchObject({ refundedLamports: DEPOSIT - PRICE, revoked: false });
    expect(market.credential(listingId).valid).toBe(true);
    expect(market.balance(listingId)).toMatchObject({ balanceLamports: 0n, highestSequence: 5n, window: 1n });
    expectRefusal(chain.send(revoke(market.buyer)), 'NothingToWithdraw');
    market.updateListing(listingId, { status: 'active' });
    const topup = { buyer: market.buyer, listingId, amountLamports: PRICE, maxPriceLamports: PRICE };
    chain.succeed(topupBalance(topup));
    expectRefusal(chain.send(market.charge(listingId, 5n)), 'RunAlreadyConsumed');
    chain.succeed(market.charge(listingId, 6n));
    expect(chain.lamports(at.balance)).toBe(chain.rent(ACCOUNT_SIZES.PerQueryBalance) + 55n);
  });

  it('adds up the pauses of 30 days: resuming for a moment resets nothing [PRG-31]', () => {
    const { market, listingId, revoke, chain } = setup();
    market.updateListing(listingId, { status: 'paused' });
    chain.setTime(chain.now() + RECLAIM_AFTER_PAUSED_SECONDS - 1n);
    market.updateListing(listingId, { status: 'active' });
    expectRefusal(chain.send(revoke(market.buyer)), 'Unauthorized');
    market.updateListing(listingId, { status: 'paused' });
    expectRefusal(chain.send(revoke(market.buyer)), 'Unauthorized');
    chain.setTime(chain.now() + 1n);
    const before = chain.lamports(market.buyer);
    chain.succeed(revoke(market.buyer));
    expect(chain.lamports(market.buyer)).toBe(before + DEPOSIT);
    expect(market.credential(listingId).valid).toBe(true);
  });

  it('lets the buyer reclaim after such pauses while the listing is active, for 30 days [PRG-31]', () => {
    const { market, listingId, revoke, chain } = setup();
    for (let pause = 0; pause < 8; pause += 1) {
      market.updateListing(listingId, { status: 'paused' });
      chain.setTime(chain.now() + RECLAIM_AFTER_PAUSED_SECONDS / 8n);
      expect(chain.simulate(revoke(market.buyer)).error === null).toBe(pause === 7);
      market.updateListing(listingId, { status: 'active' });
      expect(chain.simulate(revoke(market.buyer)).error === null).toBe(pause === 7);
      chain.setTime(chain.now() + 1n);
    }
    const firstSecondEnds = chain.now() - 8n - RECLAIM_AFTER_PAUSED_SECONDS + 1n + MONTH;
    chain.setTime(firstSecondEnds - 1n);
    expect(chain.simulate(revoke(market.buyer)).error).toBeNull();
    chain.setTime(firstSecondEnds + 86_400n);
    expectRefusal(chain.send(revoke(market.buyer)), 'Unauthorized');
  });

  it('lets the buyer reclaim only while the price is above the agreed maximum [PRG-31]', () => {
    const { market, listingId, revoke, chain } = setup();
    const raised = { priceLamports: PRICE + 1n, minDepositLamports: PRICE + 1n };
    market.updateListing(listingId, raised);
    market.updateProtocol({ paused: true });
    const before = chain.lamports(market.buyer);
    const { events } = chain.simulate(revoke(market.buyer));
    expect(events[0]?.data).toMatchObject({ refundedLamports: DEPOSIT, revoked: false });
    expectRefusal(chain.send(revoke(market.authority)), 'Unauthorized');
    market.updateListing(listingId, { priceLamports: PRICE });
    expectRefusal(chain.send(revoke(market.buyer)), 'Unauthorized');
    // A paused listing takes no top-up with which the buyer could agree to the new price.
    market.updateListing(listingId, { ...raised, status: 'paused' });
    chain.succeed(revoke(market.buyer));
    expect(chain.lamports(market.buyer)).toBe(before + DEPOSIT);
    expect(market.balance(listingId).balanceLamports).toBe(0n);
    expect(market.credential(listingId).valid).toBe(true);
    expectRefusal(chain.send(revoke(market.buyer)), 'NothingToWithdraw');
  });

  it('gives the buyer of a closed listing everything back, at once [PRG-31]', () => {
    const { market, listingId, revoke, chain, at } = setup();
    chain.succeed(market.close(listingId));
    market.updateProtocol({ paused: true });
    const before = chain.lamports(market.buyer);
    chain.succeed(revoke(market.buyer));
    expect(chain.lamports(market.buyer)).toBe(before + DEPOSIT + chain.rent(ACCOUNT_SIZES.PerQueryBalance));
    expect(chain.account(at.balance)?.data.length ?? 0).toBe(0);
    expectRefusal(chain.send(revoke(market.buyer)), 'CredentialRevoked');
  });

  it('needs per-query access', () => {
    const { market, chain } = setup();
    const none = market.list('per_query');
    expectRefusal(chain.send(market.revoke(none, market.admin)), 'CredentialNotFound');
    const oneTime = market.list('one_time');
    market.rent(oneTime);
    expectRefusal(chain.send(market.revoke(oneTime, market.admin)), 'InvalidAccessType');
  });
});

describe('verify_access', () => {
  it('is false, never an error, for accounts that do not exist [PRG-6]', () => {
    const market = new Market();
    expect(market.hasAccess('no-such-listing')).toBe(false);
    const listingId = market.list('one_time');
    expect(market.hasAccess(listingId)).toBe(false);
    const at = market.addresses(listingId);
    market.chain.fund(at.credential, 10n ** 9n);
    market.chain.fund(at.balance, 10n ** 9n);
    expect(market.hasAccess(listingId)).toBe(false);
  });

  it('needs no signature and writes nothing [PRG-5]', () => {
    const { keys } = verifyAccess({ buyer: new Market().buyer, listingId: 'x' });
    expect(keys.some((key) => key.isSigner || key.isWritable)).toBe(false);
  });

  it('answers for the given listing, not for another one’s accounts', () => {
    const market = new Market();
    const { buyer, chain } = market;
    const [rented, other] = [market.list('one_time'), market.list('one_time')];
    market.rent(rented);
    const { keys, programId } = verifyAccess({ buyer, listingId: rented });
    const { data } = verifyAccess({ buyer, listingId: other });
    expectRefusal(chain.simulate(new TransactionInstruction({ keys, programId, data })), 'ConstraintSeeds');
  });

  it('follows a one-time credential through pause and close [PRG-4, PRG-6, PRG-27]', () => {
    const { market, listingId } = rented('one_time');
    expect(market.hasAccess(listingId)).toBe(true);
    expect(market.hasAccess(listingId, market.creator)).toBe(false);
    market.updateListing(listingId, { status: 'paused' });
    expect(market.hasAccess(listingId)).toBe(true);
    market.chain.succeed(market.withdraw(listingId), market.close(listingId));
    expect(market.hasAccess(listingId)).toBe(false);
  });

  it('follows a subscription to the second of its end [PRG-4]', () => {
    const { market, listingId } = rented('subscription');
    const start = market.chain.now();
    market.chain.setTime(start + MONTH - 1n);
    expect(market.hasAccess(listingId)).toBe(true);
    market.chain.setTime(start + MONTH);
    expect(market.hasAccess(listingId)).toBe(false);
  });

  it('follows a balance: enough for one run, at a price that the buyer agreed to [PRG-4]', () => {
    const { market, chain, listingId } = rented('per_query');
    expect(market.hasAccess(listingId)).toBe(true);
    market.updateListing(listingId, { priceLamports: PRICE + 1n, minDepositLamports: PRICE + 1n });
    expect(market.hasAccess(listingId)).toBe(false);
    market.updateListing(listingId, { priceLamports: PRICE });
    for (let sequence = 1n; sequence <= DEPOSIT / PRICE; sequence += 1n) {
      expect(market.hasAccess(listingId)).toBe(true);
      chain.succeed(market.charge(listingId, sequence));
    }
    expect(market.hasAccess(listingId)).toBe(false);
    const topup = { buyer: market.buyer, listingId, maxPriceLamports: PRICE };
    chain.succeed(topupBalance({ ...topup, amountLamports: PRICE - 1n }));
    expect(market.hasAccess(listingId)).toBe(false);
    chain.succeed(topupBalance({ ...topup, amountLamports: 1n }));
    expect(market.hasAccess(listingId)).toBe(true);
  });
});
