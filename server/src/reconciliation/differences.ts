/** Each way in which the database can differ from the chain, with its repair. */
export const DIFFERENCES = {
  /** An account's row is missing, is of no account, or has other values. */
  index: {
    repair: 'the account is indexed again',
    says: 'the index has an account otherwise than the chain',
  },
  /** The program has a listing that the database does not know. */
  unknown_listing: { repair: null, says: 'the chain has a listing that the database does not know' },
  /** The chain took a charge that the database has as failed or lost. */
  charge_landed: {
    repair: 'the charge is recorded as taken; an undelivered run of it is credited',
    says: 'the chain took a charge that the database has as failed or lost',
  },
  /** The chain took a charge whose run the database does not know. */
  unknown_charge: { repair: null, says: 'the chain took a charge that the database does not know' },
  /** The database has a charge as taken, but the chain has no transaction for it. */
  charge_missing: { repair: null, says: 'the database has a charge as taken that the chain did not take' },
} as const satisfies Record<string, { repair: string | null; says: string }>;

type DifferenceKind = keyof typeof DIFFERENCES;

/** One difference between database and chain. */
export interface Difference {
  kind: DifferenceKind;
  /** Account that it is about. */
  address: string;
  run_id?: string;
  signature?: string;
  lamports?: bigint;
}

/** A found difference, with its repair if that is safe. */
export interface FoundDifference extends Difference {
  repair?: () => Promise<void>;
}

/** The result of a comparison. */
export interface ReconciliationReport {
  /** How many accounts of the program, and charges of the database, were compared. */
  accounts: number;
  balances: number;
  repaired: Difference[];
  /** The differences for an operator. */
  open: Difference[];
}
