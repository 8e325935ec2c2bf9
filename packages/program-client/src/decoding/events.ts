import type { PublicKey } from '@solana/web3.js';
import { BorshReader, hasDiscriminator, typeDef } from './borsh.js';
import { MARKETPLACE_IDL } from '../idl.js';
import { MARKETPLACE_PROGRAM_ID } from '../program-id.js';
import type { RentalModel } from '../rental-model.js';

/** The fields of each event. Amounts in lamports, times in Unix seconds. */
export interface MarketplaceEventData {
  ProtocolInitialized: {
    admin: PublicKey;
    authority: PublicKey;
    treasury: PublicKey;
    feeBps: number;
    minQueryPriceLamports: bigint;
  };
  ProtocolUpdated: {
    admin: PublicKey;
    /** All zeros when no hand-over is open. */
    pendingAdmin: PublicKey;
    authority: PublicKey;
    /** All zeros when there is none. */
    nextAuthority: PublicKey;
    treasury: PublicKey;
    feeBps: number;
    minQueryPriceLamports: bigint;
    paused: boolean;
  };
  ListingCreated: {
    listing: PublicKey;
    creator: PublicKey;
    rentalModel: RentalModel;
    priceLamports: bigint;
    minDepositLamports: bigint;
    listingId: string;
  };
  ListingUpdated: {
    listing: PublicKey;
    revision: bigint;
    paused: boolean;
    priceLamports: bigint;
    minDepositLamports: bigint;
  };
  ListingModerated: { listing: PublicKey; suspended: boolean };
  ListingClosed: { listing: PublicKey; creator: PublicKey };
  OneTimePurchased: { listing: PublicKey; buyer: PublicKey; priceLamports: bigint; feeLamports: bigint };
  SubscriptionPurchased: {
    listing: PublicKey;
    buyer: PublicKey;
    priceLamports: bigint;
    feeLamports: bigint;
    expiresAt: bigint;
  };
  PerQueryPurchased: {
    listing: PublicKey;
    buyer: PublicKey;
    depositLamports: bigint;
    maxPriceLamports: bigint;
  };
  SubscriptionRenewed: {
    listing: PublicKey;
    buyer: PublicKey;
    priceLamports: bigint;
    feeLamports: bigint;
    expiresAt: bigint;
  };
  BalanceToppedUp: {
    listing: PublicKey;
    buyer: PublicKey;
    amountLamports: bigint;
    balanceLamports: bigint;
    maxPriceLamports: bigint;
  };
  QueryConsumed: {
    listing: PublicKey;
    buyer: PublicKey;
    runId: Uint8Array;
    sequence: bigint;
    priceLamports: bigint;
    feeLamports: bigint;
    balanceLamports: bigint;
  };
  AccessRevoked: { listing: PublicKey; buyer: PublicKey };
  PerQueryAccessRevoked: {
    listing: PublicKey;
    buyer: PublicKey;
    /** The prepaid balance that was returned; rent is not in it. */
    refundedLamports: bigint;
    /** False when the buyer only took the balance out and keeps the credential. */
    revoked: boolean;
  };
  EarningsWithdrawn: {
    listing: PublicKey;
    creator: PublicKey;
    amountLamports: bigint;
    remainingLamports: bigint;
  };
}

/** The names of the program's events. */
export type MarketplaceEventName = keyof MarketplaceEventData;

/** One event, discriminated by `name`. */
export type MarketplaceEvent = {
  [Name in MarketplaceEventName]: { name: Name; data: MarketplaceEventData[Name] };
}[MarketplaceEventName];

const DATA_PREFIX = 'Program data: ';
const INVOKE = /^Program (\w+) invoke \[\d+\]$/;
const EXIT = /^Program (\w+) (?:success|failed: .*)$/;

function base64Bytes(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

function decodeEvent(bytes: Uint8Array): MarketplaceEvent | null {
  const event = MARKETPLACE_IDL.events.find((candidate) => hasDiscriminator(bytes, candidate.discriminator));
  const def = event === undefined ? null : typeDef(event.name).type;
  if (event === undefined || def?.kind !== 'struct') {
    return null;
  }
  const reader = new BorshReader(bytes, event.discriminator.length);
  try {
    const data = reader.readFields(def.fields);
    return reader.remaining === 0 ? ({ name: event.name, data } as unknown as MarketplaceEvent) : null;
  } catch {
    return null;
  }
}

/**
 * The program's events in a transaction's logs, in order. Only lines that the program itself wrote count, by the
 * invoke and exit lines around them.
 *
 * Logs are hints: the runtime cuts them at 10 KB, so state that matters is read from accounts.
 */
export function decodeEvents(
  logs: readonly string[],
  programId: PublicKey = MARKETPLACE_PROGRAM_ID,
): MarketplaceEvent[] {
  const program = programId.toBase58();
  const stack: string[] = [];
  const events: MarketplaceEvent[] = [];
  for (const line of logs) {
    const invoked = INVOKE.exec(line)?.[1];
    if (invoked !== undefined) {
      stack.push(invoked);
    } else if (EXIT.test(line)) {
      stack.pop();
    } else if (line.startsWith(DATA_PREFIX) && stack.at(-1) === program) {
      const bytes = base64Bytes(line.slice(DATA_PREFIX.length));
      const event = bytes === null ? null : decodeEvent(bytes);
      if (event !== null) {
        events.push(event);
      }
    }
  }
  return events;
}
