import { findEscrowAddress } from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';

interface OwnChargeRow {
  signature: string;
  balance: string;
  listing: string;
  /** Null where the index does not have the escrow yet. */
  escrow: string | null;
}

/**
 * Makes the function that finds the charges of this service among transactions, with their changed accounts. Each takes
 * from a balance and pays into an escrow. A signature identifies the recorded bytes, so no call to the chain is needed.
 */
export function createOwnCharges(
  db: Db,
  programId: PublicKey,
): (signatures: readonly string[]) => Promise<ReadonlyMap<string, PublicKey[]>> {
  return async (signatures) => {
    const accounts = new Map<string, PublicKey[]>();
    if (signatures.length === 0) return accounts;
    const { rows } = await sql<OwnChargeRow>`
      select charge_signatures.signature, charges.balance_address as balance, listings.address as listing,
        (select address from escrows where listing_address = listings.address limit 1) as escrow
      from charge_signatures
      join charges on charges.run_id = charge_signatures.run_id
      join listings on listings.id = charges.listing_id
      where charge_signatures.signature = any (${[...signatures]}::text[])`.execute(db);
    for (const { signature, balance, listing, escrow } of rows) {
      const changed = accounts.get(signature) ?? [];
      changed.push(
        new PublicKey(balance),
        escrow === null
          ? findEscrowAddress(new PublicKey(listing), programId).address
          : new PublicKey(escrow),
      );
      accounts.set(signature, changed);
    }
    return accounts;
  };
}
