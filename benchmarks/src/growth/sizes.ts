/** How much there is at x1, and how long is measured. What grows is `times` as much at the larger size. */
export interface Sizes {
  /** By how much it grows. */
  readonly times: number;
  /** Of the whole database. */
  readonly runs: number;
  /** The same at both: the searches' own benchmark grows them. */
  readonly listings: number;
  /** Of one wallet; no fewer than MCP lists on a page. */
  readonly rentals: number;
  /** Of one wallet. */
  readonly ownRuns: number;
  /** Of one creator. */
  readonly ownListings: number;
  /** Changed in one statement. */
  readonly changed: number;
  /** Transactions on the chain before a first start. */
  readonly transactions: number;
  /** Charges that have landed; these do not grow. */
  readonly landed: number;
  /** How often each request is made. */
  readonly rounds: number;
  /** How often a slot is taken, and a listing published, beside a snapshot. */
  readonly besideSnapshot: number;
  readonly idleSeconds: number;
  /** Runs that are charged and weighed. */
  readonly charged: number;
}

/** The sizes by name. `small` shows that the suite works; its figures say little. */
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
