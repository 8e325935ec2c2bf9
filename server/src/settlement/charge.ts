import type { Selectable } from 'kysely';
import type { Database } from '../database/schema.js';

/** A charge as the database has it. */
export type ChargeRow = Selectable<Database['charges']>;

/** The parts of a charge's transaction. */
export type Charge = Pick<
  ChargeRow,
  'run_id' | 'wallet' | 'listing_id' | 'balance_address' | 'price_lamports' | 'sequence'
>;

/** A charge whose price is set aside. */
export interface ReservedCharge extends Charge {
  /**
   * Whether the charge is signed as the run starts: its agent answered within the last
   * `AGENT_CONTACT_MINUTES`, and the run can still
   * be credited. Else it is signed once the agent was reached.
   */
  isAtStart: boolean;
}

/** A charge that is not settled yet, with all its transactions, oldest first. */
export interface OpenCharge {
  charge: ChargeRow;
  signatures: SignedCharge[];
}

/** The amount of a charge, and its payer. */
export interface ChargeOrder {
  runId: string;
  wallet: string;
  listingId: string;
  balanceAddress: string;
  priceLamports: bigint;
}

/** A signed transaction of a charge, as written down before it is sent. */
export interface SignedCharge {
  signature: string;
  signedBytes: Buffer;
  lastValidBlockHeight: bigint;
}
