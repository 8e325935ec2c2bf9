/** The amounts at the small size x1, and the lengths of the measurements. The large size multiplies the growing amounts. */
export interface Sizes {
  /** The factor of the large size. */
  readonly times: number;
  /** Runs in the whole database. */
  readonly runs: number;
  /** Listings at both sizes. The benchmark of the search grows them. */
  readonly listings: number;
  /** Rentals of one wallet, at least a page of MCP. */
  readonly rentals: number;
  /** Runs of one wallet. */
  readonly ownRuns: number;
  /** Listings of one creator. */
  readonly ownListings: number;
  /** Listings that change in one statement. */
  readonly changed: number;
  /** Transactions on the chain before a first start. */
  readonly transactions: number;
  /** Landed charges, the same number at both sizes. */
  readonly landed: number;
  /** Repetitions of each request. */
  readonly rounds: number;
  /** Slots taken, and listings published, beside a snapshot. */
  readonly besideSnapshot: number;
  readonly idleSeconds: number;
  /** Charged runs whose bytes are measured. */
  readonly charged: number;
}

/** The sizes by name. `small` is for the test of the suite, and its figures mean little. */
export const SIZES: Readonly<Record<'small' | 'full', Sizes>> = {
  small: {
    times: 10,
    runs: 400,
    listings: 1_200,
    rentals: 100,
    ownRuns: 100,
    ownListings: 10,
    changed: 1,
    transactions: 3,
    landed: 100,
    rounds: 2,
    besideSnapshot: 8,
    idleSeconds: 2,
    charged: 4,
  },
  full: {
    times: 100,
    runs: 20_000,
    listings: 100_000,
    rentals: 100,
    ownRuns: 4_000,
    ownListings: 100,
    changed: 100,
    transactions: 1_000,
    landed: 20_000,
    rounds: 60,
    besideSnapshot: 2_000,
    idleSeconds: 30,
    charged: 200,
  },
};
