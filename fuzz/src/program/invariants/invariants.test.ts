import { describe, expect, test } from 'vitest';
import type { ChainAccount } from '../world/chain.js';
import { InvariantChecker } from './invariants.js';
import type { Values } from '../model/borsh.js';
import type { Verdict } from '../model/errors.js';
import { metasOf, type InstructionName, type Meta } from '../model/instruction-table.js';
import { Draft, Ledger } from '../model/ledger.js';
import type { Prediction } from '../model/predict.js';
import { NEVER_PAUSED } from '../model/pauses.js';
import { encodeAccountData, STATUS, type ModelAccount, type ProgramState } from '../model/state.js';
import { Universe, type AddressId } from '../world/universe.js';
import { DEFAULT_RENT } from '../world/world.js';

const universe = new Universe(1);
const [listing, escrow] = [universe.listings[0] ?? 0, universe.escrows[0] ?? 0];
const { buyer, creator, treasury, authority } = universe.wallets;

/** A chain with a test's accounts. */
class FakeChain {
  readonly accounts = new Map<AddressId, ChainAccount>();

  account(id: AddressId): ChainAccount | null {
    return this.accounts.get(id) ?? null;
  }

  put(id: AddressId, lamports: bigint, state?: ProgramState): void {
    const owner = state === undefined ? universe.systemProgram : universe.program;
    const account: ModelAccount = {
      lamports,
      owner,
      data: state ?? { type: 'raw', bytes: Buffer.alloc(0) },
    };
    const data = encodeAccountData(universe, id, account);
    this.accounts.set(id, { lamports, owner: universe.key(owner), data });
  }
}

function escrowOf(earnings: bigint): ProgramState {
  return { type: 'escrow', listing, earnings, totalEarned: earnings };
}

function balanceOf(balance: bigint, maxPrice: bigint): ProgramState {
  const counters = { totalDeposited: balance, totalSpent: 0n, charged: [] };
  return { type: 'per_query_balance', buyer, listing, balance, maxPrice, ...counters };
}

function listingWith(status: number): ProgramState {
  return {
    type: 'listing',
    creator,
    model: 0,
    status,
    price: 1_000n,
    minDeposit: 0n,
    pausedAt: 0n,
    latestExpiry: 0n,
    revision: 0n,
    createdAt: 0n,
    updatedAt: 0n,
    previousPrice: 0n,
    priceChangedAt: 0n,
    pauses: NEVER_PAUSED,
    id: 'a',
    uri: '',
  };
}

const PLACES: Record<string, AddressId> = {
  buyer,
  creator,
  authority,
  treasury,
  listing,
  escrow,
  protocol: universe.protocol,
  access_credential: universe.credentialOf(buyer, listing),
  per_query_balance: universe.balanceOf(buyer, listing),
  system_program: universe.systemProgram,
};

function chargeAt(sequence: bigint, priceLamports = 0n): Values {
  return { sequence, run_id: new Uint8Array(16), price_lamports: priceLamports };
}

/** Checks the laws for an instruction that turns one state of the chain into another. @returns the broken law */
function judge(
  name: InstructionName,
  before: (chain: FakeChain) => void,
  after: (chain: FakeChain) => void,
  args: Prediction['args'] = {},
  verdict: Verdict = null,
  places: Record<string, AddressId> = {},
  behind: Meta[] = [],
): string | null {
  const chain = new FakeChain();
  const laws = new InvariantChecker(universe, chain);
  const metas = [...metasOf(name, { ...PLACES, ...places }, universe.absent), ...behind];
  before(chain);
  const draft = new Draft(new Ledger(universe, DEFAULT_RENT));
  const attempt = laws.before(metas, { name, args, verdict, draft });
  after(chain);
  return attempt && laws.after(attempt, chain.accounts, verdict);
}

describe('the laws', () => {
  const full = (chain: FakeChain): void => {
    chain.put(escrow, 5_000n, escrowOf(3_000n));
    chain.put(creator, 100n);
  };

  test('accept a withdrawal whose payment equals its booking', () => {
    const paid = (chain: FakeChain): void => {
      chain.put(escrow, 4_000n, escrowOf(2_000n));
      chain.put(creator, 1_100n);
    };
    expect(judge('withdraw_earnings', full, paid)).toBeNull();
  });

  test('refuse an escrow’s payment without a booking', () => {
    const unbooked = (chain: FakeChain): void => {
      chain.put(escrow, 4_000n, escrowOf(3_000n));
      chain.put(creator, 1_100n);
    };
    expect(judge('withdraw_earnings', full, unbooked)).toMatch(/its field moved by 0, its lamports by -1000/);
  });

  test('refuse lamports without a source', () => {
    const made = (chain: FakeChain): void => {
      chain.put(escrow, 5_000n, escrowOf(3_000n));
      chain.put(creator, 1_100n);
    };
    expect(judge('withdraw_earnings', full, made)).toMatch(/1000 lamports came out of nothing/);
  });

  test('refuse the gain of a wallet that is no party', () => {
    const treasuryTakes = (chain: FakeChain): void => {
      chain.put(escrow, 4_000n, escrowOf(2_000n));
      chain.put(buyer, 1_000n);
    };
    expect(
      judge('purchase_one_time', (chain) => chain.put(escrow, 5_000n, escrowOf(3_000n)), treasuryTakes),
    ).toMatch(/buyer gained 1000 lamports and is no party/);
  });

  test('refuse a change of a tombstone', () => {
    const closed = (chain: FakeChain): void => chain.put(listing, 5n, listingWith(STATUS.closed));
    const reopened = (chain: FakeChain): void => chain.put(listing, 5n, listingWith(STATUS.active));
    expect(judge('update_listing', closed, reopened)).toMatch(/is a tombstone and changed/);
    expect(judge('update_listing', reopened, closed)).toBeNull();
  });

  test('refuse a charge of another price than its argument', () => {
    const balance = universe.balanceOf(buyer, listing);
    const charged = (chain: FakeChain): void => chain.put(balance, 4_000n, balanceOf(4_000n, 9_000n));
    const before = (chain: FakeChain): void => chain.put(balance, 5_000n, balanceOf(5_000n, 9_000n));
    const charge = chargeAt(1n, 999n);
    expect(judge('consume_query', before, charged, charge)).toMatch(
      /1000 lamports were charged for a price of 999/,
    );
  });

  test('refuse an end of a suspension by another than the admin', () => {
    const suspended = (chain: FakeChain): void => chain.put(listing, 5n, listingWith(STATUS.suspended));
    const resumed = (chain: FakeChain): void => chain.put(listing, 5n, listingWith(STATUS.active));
    expect(judge('update_listing', suspended, resumed)).toMatch(/update_listing ended a suspension/);
    expect(judge('update_listing', resumed, suspended)).toMatch(/update_listing began a suspension/);
    expect(judge('moderate_listing', resumed, suspended)).toBeNull();
  });

  test('do not accept the refusal of a reclaim above the agreed price, or from a suspended listing', () => {
    const rented = (chain: FakeChain, maxPrice: bigint, status: number): void => {
      chain.put(listing, 5n, listingWith(status));
      chain.put(universe.balanceOf(buyer, listing), 5_000n, balanceOf(5_000n, maxPrice));
      const credential = { type: 'access_credential', buyer, listing, model: 2, valid: true } as const;
      const times = { purchasedAt: 0n, expiresAt: 0n };
      chain.put(universe.credentialOf(buyer, listing), 5n, { ...credential, ...times });
    };
    const refusal = (maxPrice: bigint, status: number = STATUS.active): string | null => {
      const put = (chain: FakeChain): void => rented(chain, maxPrice, status);
      return judge('revoke_per_query_access', put, put, {}, 'Unauthorized', { revoker: buyer });
    };
    expect(refusal(999n)).toMatch(/refused from a listing that is too dear/);
    expect(refusal(1_000n)).toBeNull();
    expect(refusal(1_000n, STATUS.suspended)).toMatch(/refused from a listing that is suspended/);
  });
});

describe('the laws of several charges at once', () => {
  const credential = universe.credentialOf(buyer, listing);
  const balance = universe.balanceOf(buyer, listing);
  const holds = (lamports: bigint) => (chain: FakeChain) =>
    chain.put(balance, lamports, balanceOf(lamports, 9_000n));

  /** Checks the laws for charges of one balance with 5,000 lamports. */
  function judgeCharges(charges: Values[], left: bigint, verdict: Verdict = null): string | null {
    const behind = charges.flatMap(() => [
      { id: credential, isSigner: false, isWritable: false },
      { id: balance, isSigner: false, isWritable: true },
    ]);
    const after = (chain: FakeChain): void => {
      holds(left)(chain);
      chain.put(treasury, 5_000n - left);
    };
    return judge('consume_queries', holds(5_000n), after, { charges }, verdict, {}, behind);
  }

  test('accept charges of their prices', () => {
    expect(judgeCharges([chargeAt(1n, 1_000n), chargeAt(2n, 500n)], 3_500n)).toBeNull();
    expect(judgeCharges([], 5_000n)).toBeNull();
  });

  test('refuse charges of another sum than their prices', () => {
    expect(judgeCharges([chargeAt(1n, 1_000n), chargeAt(2n, 500n)], 4_000n)).toMatch(
      /1000 lamports were charged for a price of 1500/,
    );
  });
});
