import { createStandIn, standInWallet, type StandInListing } from '@agent-rental/stand-in';
import { outflowOf, tamperedTransaction, type Outflow } from '@agent-rental/stand-in/tampering';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SpendingPolicy, SpendingRequest } from '../spending/policy.js';
import { clientOf } from '../testing/tools-of.js';
import { rentedToolset } from '../toolset.js';
import { payingWallet } from './paying-wallet.js';

const IDS = ['first-aaaaaa', 'second-aaaaaa', 'third-aaaaaa'] as const;

/** Amounts around the limits, and far above them. */
const lamports = fc.oneof(
  fc.integer({ min: 0, max: 20_000_000 }),
  fc.constantFrom(0, 1, 999, 1_000, 500_000_000, Number.MAX_SAFE_INTEGER),
);
const limitUpTo = (max: number) => fc.integer({ min: 1_000_000, max }).map(BigInt);

/** A value, or none, which is more frequent by the factor `weight`. */
function rarely<T>(value: fc.Arbitrary<T>, weight = 4): fc.Arbitrary<T | undefined> {
  return fc.oneof({ arbitrary: fc.constant(undefined), weight }, { arbitrary: value, weight: 1 });
}

/** Some of these values, or no change at all. */
const changes = <T extends object>(values: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  rarely(fc.record(values, { requiredKeys: [] }));
const rentalModel = fc.constantFrom('one_time', 'subscription', 'per_query');
const tampering = rarely(fc.constantFrom('priority fee', 'transfer', 'again'));

const policies = fc.record({
  maxDayLamports: rarely(limitUpTo(60_000_000), 2),
  maxListingLamports: rarely(limitUpTo(40_000_000), 2),
  maxRunLamports: rarely(limitUpTo(10_000_000), 2),
  askAboveLamports: rarely(limitUpTo(20_000_000), 1),
  listingIds: rarely(fc.subarray([...IDS])),
});

const listings = fc.tuple(...IDS.map((id) => listingWith(id)));

function listingWith(id: string): fc.Arbitrary<StandInListing> {
  return fc.record({
    id: fc.constant(id),
    rental_model: rentalModel,
    price_lamports: fc.integer({ min: 1_000, max: 10_000_000 }),
    min_deposit_lamports: fc.integer({ min: 1_000, max: 20_000_000 }),
    rental: fc.constantFrom('none', 'low_balance', 'expired'),
  });
}

/** Changes on the way, for one call of a tool. */
const lies = fc.record({
  listing: changes({
    price_lamports: lamports,
    min_deposit_lamports: lamports,
    rental_model: rentalModel,
    id: fc.constantFrom(...IDS),
  }),
  credential: changes({
    status: fc.constantFrom('not_found', 'low_balance', 'expired', 'active'),
    valid: fc.boolean(),
    balance_lamports: lamports,
    listing_id: fc.constantFrom(...IDS),
  }),
  /** The request to the service in place of the original one. */
  request: changes({ max_price_lamports: lamports, deposit_lamports: lamports, amount_lamports: lamports }),
  quote: changes({
    price_lamports: lamports,
    max_price_lamports: lamports,
    rent_lamports: lamports,
    network_fee_lamports: lamports,
  }),
  bytes: tampering,
  /** A change of only the transaction to sign, not of the checked one. */
  laterBytes: tampering,
  submitted: fc.constantFrom('told', 'told', 'told refused', 'told too little SOL', 'lost', 'lost before'),
});

type Lies = typeof lies extends fc.Arbitrary<infer T> ? T : never;

const calls = fc.array(
  fc.record({
    tool: fc.constantFrom('rent_listing', 'rent_listing', 'hire'),
    agentId: fc.constantFrom(...IDS),
    deposit: fc.option(fc.integer({ min: 0, max: 30_000_000 }), { nil: undefined }),
    budgetSol: fc.double({ min: 0, max: 0.1, noNaN: true }),
    lies: fc.oneof(lies, lies, fc.constant(undefined)),
    /** The framework repeats the call with the same identity. */
    isRepeat: fc.boolean(),
    /** Beside the call before it. */
    isAtOnce: fc.boolean(),
    approves: fc.constantFrom(true, true, false),
  }),
  { minLength: 1, maxLength: 6 },
);

/** A market with the changed answers of `current`. */
function lyingMarket(market: readonly StandInListing[], current: () => Lies | undefined) {
  const standIn = createStandIn(market.map((listing) => ({ ...listing })));
  const error = (code: string, message: string, status = 400) =>
    Response.json({ error: { code, message, status } }, { status });
  const doFetch: typeof fetch = async (input, init) => {
    const lie = current();
    const { pathname } = new URL(new Request(input, init).url);
    if (lie === undefined) return standIn.fetch(input, init);
    let sent = init;
    if (pathname === '/v1/transactions' && lie.request) {
      const asked = JSON.parse(init?.body as string) as Record<string, unknown>;
      const named = Object.entries(lie.request).filter(
        ([name, value]) => name in asked && value !== undefined,
      );
      sent = { ...init, body: JSON.stringify({ ...asked, ...Object.fromEntries(named) }) };
    }
    if (pathname === '/v1/transactions/submit' && lie.submitted === 'lost before') throw new TypeError('cut');
    const response = await standIn.fetch(input, sent);
    if (pathname === '/v1/transactions/submit') {
      if (lie.submitted === 'lost') throw new TypeError('cut');
      if (lie.submitted === 'told refused') return error('invalid_request', 'No.');
      if (lie.submitted === 'told too little SOL')
        return error('insufficient_balance', 'Too little SOL.', 403);
      return response;
    }
    if (!response.ok) return response;
    const value = (await response.json()) as Record<string, unknown>;
    if (/^\/v1\/listings\/[^/]+$/.test(pathname)) Object.assign(value, lie.listing);
    if (/^\/v1\/credentials\/[^/]+$/.test(pathname)) Object.assign(value, lie.credential);
    if (pathname === '/v1/transactions') {
      const isFirst = !('max_price_lamports' in (JSON.parse(init?.body as string) as object));
      const how = lie.bytes ?? (isFirst ? undefined : lie.laterBytes);
      if (how) value['transaction'] = tamperedTransaction(String(value['transaction']), how);
      // With a truly quoted fee, the policy decides.
      const fee = how === 'priority fee' ? { network_fee_lamports: 89_000 } : {};
      Object.assign(value['quote'] as object, fee, lie.quote);
    }
    return Response.json(value);
  };
  return { standIn, fetch: doFetch };
}

/** All signatures, and all approvals of a person. */
interface Witness {
  readonly signed: Outflow[];
  readonly approved: SpendingRequest[];
  /** Transactions that each hire signed, and its budget. */
  readonly hires: { signed: Outflow[]; budgetLamports: number }[];
}

async function play(
  market: readonly StandInListing[],
  policy: SpendingPolicy,
  plan: readonly (typeof calls extends fc.Arbitrary<(infer T)[]> ? T : never)[],
): Promise<Witness> {
  let lie: Lies | undefined;
  const { fetch: doFetch } = lyingMarket(market, () => lie);
  const witness: Witness = { signed: [], approved: [], hires: [] };
  const signer = standInWallet();
  const wallet = payingWallet({
    ...signer,
    signTransaction: async (wire) => {
      witness.signed.push(outflowOf(wire, IDS));
      return signer.signTransaction(wire);
    },
  });
  const toolset = rentedToolset(clientOf({ fetch: doFetch }), { wallet, policy });
  let under: Promise<unknown> = Promise.resolve();
  for (const [index, call] of plan.entries()) {
    if (!call.isAtOnce) await under;
    lie = call.lies;
    const before = witness.signed.length;
    const tool = await toolset.find(call.tool);
    const args =
      call.tool === 'hire'
        ? { task: 't', agent_id: call.agentId, budget_sol: call.budgetSol }
        : { agent_id: call.agentId, deposit_lamports: call.deposit };
    const calling = tool!.invoke(args, {
      call: { scope: 'test', toolCallId: call.isRepeat ? 'same' : `call ${index}` },
      approve: (request) => {
        if (call.approves) witness.approved.push(request);
        return call.approves;
      },
    });
    const isAlone = !call.isAtOnce && plan[index + 1]?.isAtOnce !== true;
    under = Promise.all([under, calling]);
    if (call.tool === 'hire' && isAlone) {
      await calling;
      const budgetLamports = call.budgetSol * 1e9;
      witness.hires.push({ signed: witness.signed.slice(before), budgetLamports });
    }
  }
  await under;
  return witness;
}

/** The maximum cost of signed transactions. Only one of several rent transactions for a listing can land. */
function mostOf(signed: readonly Outflow[]): number {
  const rents = new Map<string, number>();
  let rest = 0;
  for (const { isRent, listing, lamports: amount } of signed) {
    if (isRent) rents.set(listing, Math.max(rents.get(listing) ?? 0, amount));
    else rest += amount;
  }
  return [...rents.values()].reduce((sum, one) => sum + one, rest);
}

describe('the sum that leaves the wallet', () => {
  it('never exceeds the policy, with any answers and proposals of a marketplace [REN-13]', async () => {
    let signedInAll = 0;
    let approvedInAll = 0;
    await fc.assert(
      fc.asyncProperty(listings, policies, calls, async (market, policy, plan) => {
        const { signed, approved, hires } = await play(market, policy, plan);
        signedInAll += signed.length;
        approvedInAll += approved.length;
        const { maxDayLamports, maxListingLamports, maxRunLamports, askAboveLamports, listingIds } = policy;
        const within = (amount: number, most: bigint | undefined) =>
          most === undefined || BigInt(amount) <= most;
        expect(within(mostOf(signed), maxDayLamports)).toBe(true);
        for (const id of IDS) {
          const ofListing = signed.filter(({ listing }) => listing === id);
          expect(within(mostOf(ofListing), maxListingLamports)).toBe(true);
          const isAllowed = listingIds?.includes(id) ?? true;
          expect(isAllowed || ofListing.length === 0).toBe(true);
        }
        const yes = [...approved];
        for (const { listing, lamports: amount, perRun, isRent } of signed) {
          expect(listing).not.toBe('unknown');
          expect(within(perRun ?? 0, maxRunLamports)).toBe(true);
          if (within(amount, askAboveLamports)) continue;
          const given = yes.findIndex(
            (one) =>
              one.agentId === listing && one.lamports >= amount && (one.maxRunLamports ?? 0) >= (perRun ?? 0),
          );
          expect(given).toBeGreaterThanOrEqual(0);
          // A yes is for one payment; all transactions that rent a listing are one.
          if (!isRent) yes.splice(given, 1);
        }
        for (const hire of hires) expect(mostOf(hire.signed)).toBeLessThanOrEqual(hire.budgetLamports);
      }),
      { numRuns: 200 },
    );
    // The property is not empty.
    expect(signedInAll).toBeGreaterThan(50);
    expect(approvedInAll).toBeGreaterThan(5);
  });
});
