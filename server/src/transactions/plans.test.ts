import type { TransactionRequest } from '@agent-rental/contract';
import { decodeInstruction, type Listing } from '@agent-rental/program-client';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { describe, expect, test } from 'vitest';
import type { ListingState } from './listing-state.js';
import type { Plan, PlanContext } from './plan.js';
import { planOf, type ListingActionRequest } from './plan-of.js';

const NOW_SECONDS = 1_800_000_000n;
const DAY_SECONDS = 86_400n;
const PRICE = 1_000_000n;

const creator = Keypair.generate().publicKey;
const renter = Keypair.generate().publicKey;
const treasury = Keypair.generate().publicKey;
const admin = Keypair.generate().publicKey;
const programId = Keypair.generate().publicKey;
const listingId = 'invoice-reader-k3x7qa';

function listing(fields: Partial<Listing> = {}): Listing {
  return {
    version: 1,
    bump: 255,
    creator,
    rentalModel: 'per_query',
    status: 'active',
    priceLamports: PRICE,
    minDepositLamports: 2n * PRICE,
    pausedAt: null,
    latestSubscriptionExpiry: 0n,
    revision: 0n,
    createdAt: 0n,
    updatedAt: 0n,
    previousPriceLamports: null,
    priceChangedAt: null,
    pauseHistory: { units: 0n, latest: 0, remainderSeconds: 0 },
    listingId,
    metadataUri: 'ipfs://x',
    ...fields,
  };
}

const SUSPENDED = { listing: listing({ status: 'suspended', pausedAt: 1n }) };
const PAUSED = { listing: listing({ status: 'paused', pausedAt: 1n }) };
const CLOSED = { listing: listing({ status: 'closed' }) };

/** A renter's holdings in a listing. */
function holding(fields: { valid?: boolean; expiresAt?: bigint; balanceLamports?: bigint } = {}) {
  const { valid = true, expiresAt = null, balanceLamports } = fields;
  const account = { version: 1, bump: 255, buyer: renter, listing: renter };
  const balance = (lamports: bigint) => ({
    ...account,
    balanceLamports: lamports,
    maxPriceLamports: PRICE,
    totalDepositedLamports: 0n,
    totalSpentLamports: 0n,
    highestSequence: 0n,
    window: 0n,
    accountLamports: lamports + 2_000_000n,
  });
  return {
    credential: { ...account, rentalModel: 'per_query' as const, valid, purchasedAt: 0n, expiresAt },
    balance: balanceLamports === undefined ? undefined : balance(balanceLamports),
  };
}

function plan(
  request: { action: string; [field: string]: unknown },
  state: Partial<ListingState> = {},
  wallet: PublicKey = ['update', 'pause', 'resume', 'close', 'withdraw', 'revoke'].includes(request.action)
    ? creator
    : renter,
): Plan {
  const context: PlanContext = {
    wallet,
    state: { listing: listing(), earningsLamports: 0n, credential: undefined, balance: undefined, ...state },
    treasury,
    admin,
    programId,
    now: new Date(Number(NOW_SECONDS) * 1000),
  };
  return planOf(context, { listing_id: listingId, ...request } as ListingActionRequest);
}

/** Names and arguments of a plan's instructions. */
function decoded(made: Plan) {
  return made.instructions.map(({ programId: program, data, keys }) => {
    expect(program.equals(programId)).toBe(true);
    const read = decodeInstruction(data, keys);
    return [read?.name, read?.args];
  });
}

const codeOf = (make: () => Plan): string => {
  try {
    make();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'none';
};

describe('renting', () => {
  test('Per-Task takes the least deposit and the present price when nothing else is named', () => {
    const made = plan({ action: 'rent' });
    expect(decoded(made)).toEqual([
      ['purchase_per_query', { depositLamports: 2n * PRICE, maxPriceLamports: PRICE }],
    ]);
    expect(made).toMatchObject({ priceLamports: 2n * PRICE, maxPriceLamports: PRICE });
    expect(made.createdAccounts).toEqual(['AccessCredential', 'PerQueryBalance']);
  });

  test('a subscription costs its window', () => {
    const state = { listing: listing({ rentalModel: 'subscription' }) };
    const made = plan({ action: 'rent', duration_seconds: 7_776_000 }, state);
    expect(decoded(made)).toEqual([
      ['purchase_subscription', { durationSeconds: 7_776_000n, maxPriceLamports: 3n * PRICE }],
    ]);
    expect(codeOf(() => plan({ action: 'rent' }, state))).toBe('invalid_request');
  });

  test.each<[string, { action: string; [field: string]: unknown }, Partial<ListingState>, string]>([
    ['a paused listing', { action: 'rent' }, PAUSED, 'listing_paused'],
    ['a suspended listing', { action: 'rent' }, SUSPENDED, 'listing_suspended'],
    ['a closed listing [TXN-6]', { action: 'rent' }, CLOSED, 'listing_not_found'],
    ['again', { action: 'rent' }, holding(), 'invalid_request'],
    ['after a revoke', { action: 'rent' }, holding({ valid: false }), 'credential_not_found'],
    ['under the price', { action: 'rent', max_price_lamports: 999_999 }, {}, 'insufficient_balance'],
    ['with too small a deposit', { action: 'rent', deposit_lamports: 1_999_999 }, {}, 'invalid_request'],
  ])('%s is refused', (_, request, state, code) => {
    expect(codeOf(() => plan(request, state))).toBe(code);
  });
});

describe('renewing', () => {
  const request = { action: 'renew', duration_seconds: 2_592_000 };
  const on = (expiresAt: bigint, fields: Partial<Listing> = {}) => ({
    ...holding({ expiresAt }),
    listing: listing({ rentalModel: 'subscription', ...fields }),
  });

  test('an expired subscription, or one that ends before the new window', () => {
    for (const expiresAt of [1n, NOW_SECONDS + 15n * DAY_SECONDS]) {
      const made = plan(request, on(expiresAt));
      expect(decoded(made)).toEqual([
        ['renew_subscription', { durationSeconds: 2_592_000n, maxPriceLamports: PRICE }],
      ]);
      expect(made).toMatchObject({ priceLamports: PRICE, maxPriceLamports: PRICE });
    }
  });

  test('a subscription of which it adds less than half of the window, with an explicit yes alone [TXN-24]', () => {
    const state = on(NOW_SECONDS + 29n * DAY_SECONDS);
    expect(() => plan(request, state)).toThrow(/would add 1 of 30 days.*send `early: true` to pay anyway/);
    expect(codeOf(() => plan(request, state))).toBe('invalid_request');
    expect(plan({ ...request, early: true }, state).renewal).toEqual({
      new_expires_at: new Date(Number(NOW_SECONDS + 30n * DAY_SECONDS) * 1000).toISOString(),
      added_seconds: Number(DAY_SECONDS),
    });
  });

  const held = on(1n);
  test.each<[string, Partial<ListingState>, string, object?]>([
    ['would not be later', on(NOW_SECONDS + 30n * DAY_SECONDS), 'invalid_request', { early: true }],
    ['is not held', { listing: held.listing }, 'credential_not_found'],
    ['is revoked', { ...held, ...holding({ valid: false }) }, 'credential_not_found'],
    ['is paused', on(1n, { status: 'paused' }), 'listing_paused'],
    ['is of another model', holding(), 'invalid_request'],
    ['costs more than the caller pays', held, 'insufficient_balance', { max_price_lamports: 999_999 }],
  ])('is refused where it %s', (_, state, code, more = {}) => {
    expect(codeOf(() => plan({ ...request, ...more }, state))).toBe(code);
  });
});

test('topping up adds the amount and agrees to the price', () => {
  const state = holding({ balanceLamports: 0n });
  expect(decoded(plan({ action: 'topup', amount_lamports: 5 }, state))).toEqual([
    ['topup_balance', { amountLamports: 5n, maxPriceLamports: PRICE }],
  ]);
  const capped = plan({ action: 'topup', amount_lamports: 0, max_price_lamports: 3_000_000 }, state);
  expect(capped).toMatchObject({ priceLamports: 0n, maxPriceLamports: 3n * PRICE });
  expect(codeOf(() => plan({ action: 'topup', amount_lamports: 5 }))).toBe('credential_not_found');
});

describe('taking a balance back', () => {
  const request = { action: 'reclaim' };
  const paused = (seconds: bigint, balanceLamports = 5n) => ({
    ...holding({ balanceLamports }),
    listing: listing({ status: 'paused', pausedAt: NOW_SECONDS - seconds }),
  });

  test('works on a listing that has been paused for 7 days, and gives the balance', () => {
    const made = plan(request, paused(7n * DAY_SECONDS));
    expect(decoded(made)).toEqual([['revoke_per_query_access', {}]]);
    expect(made.returnedLamports).toBe(5n);
  });

  test('works on an active listing whose pauses within 30 days add up to 7 days', () => {
    const latest = Number((NOW_SECONDS - 20n * DAY_SECONDS) / 43_200n);
    const after = (units: bigint) => ({
      ...holding({ balanceLamports: 5n }),
      listing: listing({ pauseHistory: { units, latest, remainderSeconds: 0 } }),
    });
    expect(plan(request, after(2n ** 14n - 1n)).returnedLamports).toBe(5n);
    expect(codeOf(() => plan(request, after(2n ** 13n - 1n)))).toBe('invalid_request');
  });

  test('works on a suspended listing at once, and gives the balance alone [OPS-114]', () => {
    const state = {
      ...holding({ balanceLamports: 5n }),
      listing: listing({ status: 'suspended', pausedAt: NOW_SECONDS }),
    };
    expect(plan(request, state).returnedLamports).toBe(5n);
  });

  test('works while the price is above the agreed maximum, whether a top-up is possible or not', () => {
    for (const status of ['active', 'paused'] as const) {
      const at = (priceLamports: bigint) => ({
        ...holding({ balanceLamports: 5n }),
        listing: listing({ status, priceLamports, pausedAt: status === 'paused' ? NOW_SECONDS : null }),
      });
      expect(plan(request, at(PRICE + 1n)).returnedLamports).toBe(5n);
      expect(codeOf(() => plan(request, at(PRICE)))).toBe('invalid_request');
    }
  });

  test('is refused with the time from which it works, or with the missing condition', () => {
    const start = new Date(Number(NOW_SECONDS + DAY_SECONDS) * 1000).toISOString();
    expect(() => plan(request, paused(6n * DAY_SECONDS))).toThrow(`from ${start} on`);
    expect(() => plan(request, holding({ balanceLamports: 5n }))).toThrow(
      /closed or suspended.*more than agreed.*7 of the last 30 days/,
    );
  });

  test('works on a closed listing, and gives the rent as well', () => {
    const state = { ...holding({ balanceLamports: 0n }), listing: listing({ status: 'closed' }) };
    expect(plan(request, state).returnedLamports).toBe(2_000_000n);
  });

  test('is refused before, without a balance, or without a rental', () => {
    for (const state of [
      paused(7n * DAY_SECONDS - 1n),
      holding({ balanceLamports: 5n }),
      paused(8n * DAY_SECONDS, 0n),
      holding(),
      { listing: listing({ rentalModel: 'one_time' }) },
    ]) {
      expect(codeOf(() => plan(request, state))).toBe('invalid_request');
    }
    expect(codeOf(() => plan(request))).toBe('credential_not_found');
  });
});

test('the admin alone suspends a listing, and lifts that [OPS-114]', () => {
  const request = { action: 'moderate', suspended: true };
  expect(decoded(plan(request, {}, admin))).toEqual([['moderate_listing', { suspended: true }]]);
  const lift = { ...request, suspended: false };
  expect(decoded(plan(lift, SUSPENDED, admin))).toEqual([['moderate_listing', { suspended: false }]]);
  for (const [asked, state, wallet] of [
    [request, {}, creator],
    [lift, SUSPENDED, creator],
    [request, SUSPENDED, admin],
    [lift, PAUSED, admin],
    [request, CLOSED, admin],
    [lift, CLOSED, admin],
  ] as const) {
    expect(codeOf(() => plan(asked, state, wallet))).toBe('invalid_request');
  }
});

describe('a creator', () => {
  const nothing = { priceLamports: null, minDepositLamports: null, metadataUri: null, paused: null };

  test('changes the named members', () => {
    const request = { action: 'update', price_lamports: 1_500_000, metadata_uri: 'ipfs://y' };
    expect(decoded(plan(request))).toEqual([
      ['update_listing', { ...nothing, priceLamports: 1_500_000n, metadataUri: 'ipfs://y' }],
    ]);
    expect(codeOf(() => plan({ action: 'update' }))).toBe('invalid_request');
    expect(codeOf(() => plan({ action: 'update', price_lamports: 2_000_001 }))).toBe('invalid_request');
    expect(codeOf(() => plan({ action: 'update', min_deposit_lamports: 1 }))).toBe('invalid_request');
  });

  test('pauses and resumes', () => {
    expect(decoded(plan({ action: 'pause' }))).toEqual([['update_listing', { ...nothing, paused: true }]]);
    expect(decoded(plan({ action: 'resume' }, PAUSED))).toEqual([
      ['update_listing', { ...nothing, paused: false }],
    ]);
    expect(codeOf(() => plan({ action: 'pause' }, PAUSED))).toBe('invalid_request');
    expect(codeOf(() => plan({ action: 'resume' }, SUSPENDED))).toBe('listing_suspended');
    expect(codeOf(() => plan({ action: 'resume' }))).toBe('invalid_request');
  });

  test('closes, and first withdraws the earnings [TXN-12]', () => {
    expect(decoded(plan({ action: 'close' }))).toEqual([['close_listing', {}]]);
    const made = plan({ action: 'close' }, { earningsLamports: 7n });
    expect(decoded(made)).toEqual([
      ['withdraw_earnings', { amountLamports: null }],
      ['close_listing', {}],
    ]);
    expect(made.returnedLamports).toBe(7n);
    const subscribed = { listing: listing({ latestSubscriptionExpiry: NOW_SECONDS + 1n }) };
    expect(codeOf(() => plan({ action: 'close' }, subscribed))).toBe('invalid_request');
    const over = { listing: listing({ latestSubscriptionExpiry: NOW_SECONDS }) };
    expect(codeOf(() => plan({ action: 'close' }, over))).toBe('none');
  });

  test('withdraws all or a part, of a closed listing too', () => {
    const earned = { earningsLamports: 7n };
    expect(plan({ action: 'withdraw' }, { ...earned, ...CLOSED }).returnedLamports).toBe(7n);
    const part = plan({ action: 'withdraw', amount_lamports: 3 }, earned);
    expect(decoded(part)).toEqual([['withdraw_earnings', { amountLamports: 3n }]]);
    expect(part.returnedLamports).toBe(3n);
    expect(codeOf(() => plan({ action: 'withdraw', amount_lamports: 8 }, earned))).toBe('invalid_request');
    expect(codeOf(() => plan({ action: 'withdraw' }))).toBe('invalid_request');
  });

  test('ends a Per-Task rental, of a paused or closed listing too, and no rental that is not there [TXN-12]', () => {
    const request = { action: 'revoke', buyer: renter.toBase58() };
    for (const state of [{}, PAUSED, CLOSED]) {
      const made = plan(request, { ...holding({ balanceLamports: 5n }), ...state });
      expect(decoded(made)).toEqual([['revoke_per_query_access', {}]]);
      expect(made.instructions[0]?.keys.some(({ pubkey }) => pubkey.equals(renter))).toBe(true);
      expect(made.returnedLamports).toBeUndefined();
    }
    expect(codeOf(() => plan(request, holding({ balanceLamports: 5n }), renter))).toBe('listing_not_found');
    expect(codeOf(() => plan(request))).toBe('credential_not_found');
    expect(codeOf(() => plan(request, holding({ valid: false })))).toBe('credential_not_found');
    const other = { ...holding(), listing: listing({ rentalModel: 'subscription' }) };
    expect(codeOf(() => plan(request, other))).toBe('invalid_request');
  });

  test.each<TransactionRequest['action']>(['update', 'pause', 'resume', 'close', 'withdraw'])(
    '%s is the creator’s alone, and but for withdrawing of an open listing [TXN-12]',
    (action) => {
      const request = { action, price_lamports: 1_000 };
      const state = { ...PAUSED, earningsLamports: 7n };
      expect(codeOf(() => plan(request, state, renter))).toBe('listing_not_found');
      const whenClosed = action === 'withdraw' ? 'none' : 'listing_not_found';
      expect(codeOf(() => plan({ action }, { ...CLOSED, earningsLamports: 7n }))).toBe(whenClosed);
    },
  );
});
