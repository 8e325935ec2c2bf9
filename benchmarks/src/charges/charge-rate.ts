import {
  openChargingMarket,
  openTestDatabase,
  type ChargingMarket,
  type MarketListing,
} from '@agent-rental/server/testing';
import { startFundedChain } from '@agent-rental/test/support/funded-chain';

const PRICE_LAMPORTS = 250_000n;
/** Several renters, because one wallet has at most half of a listing's slots while another wants one. */
const RENTERS_PER_LISTING = 4;
const RUNS_AT_ONCE_PER_LISTING = 20;
const DEPOSIT_LAMPORTS = 10_000n * PRICE_LAMPORTS;
const due = Promise.resolve(true);

/** The result of a round of charges. */
export interface Round {
  readonly runs: number;
  readonly seconds: number;
  /** The authority's fees. */
  readonly feeLamports: number;
  /** From each charge's request to its confirmation, in milliseconds. */
  readonly waits: readonly number[];
}

/** Listings with renters and their deposits, on a new chain and a new database. */
export interface ChargedListings {
  readonly chainName: string;
  /**
   * Charges runs of each listing.
   *
   * @param maxCharges the most charges in a transaction. Default: as many as fit.
   * @param atOnce concurrent charges of a listing. Default: one per slot.
   */
  round(runsPerListing: number, maxCharges?: number, atOnce?: number): Promise<Round>;
  close(): Promise<void>;
}

/** Starts the chain and the database, and rents the listings. */
export async function startChargedListings(
  listings: number,
  which?: Parameters<typeof startFundedChain>[0],
): Promise<ChargedListings> {
  const database = await openTestDatabase();
  const chain = await startFundedChain(which);
  const close = async (): Promise<void> => {
    await chain.close();
    await database.close();
  };
  try {
    const market = await openChargingMarket(chain, database.db);
    const rented: RentedListing[] = [];
    for (let count = 0; count < listings; count += 1) rented.push(await rentedListing(market));
    return { chainName: chain.name, round: (...how) => chargeRound(market, rented, ...how), close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface RentedListing {
  listing: MarketListing;
  renters: Awaited<ReturnType<ChargingMarket['rent']>>[];
}

async function rentedListing(market: ChargingMarket): Promise<RentedListing> {
  const listing = await market.list(PRICE_LAMPORTS);
  const renters = await Promise.all(
    Array.from({ length: RENTERS_PER_LISTING }, () => market.rent(listing, DEPOSIT_LAMPORTS, PRICE_LAMPORTS)),
  );
  return { listing, renters };
}

type Admitted = Awaited<ReturnType<ChargingMarket['reserve']>>;

/** Reserves prices and simulates the charges, for the renters in turns. */
async function admit(
  market: ChargingMarket,
  settlement: ReturnType<ChargingMarket['settlement']>,
  { listing, renters }: RentedListing,
  runs: number,
): Promise<Admitted[]> {
  const charges: Admitted[] = [];
  while (charges.length < runs) {
    for (const renter of renters.slice(0, runs - charges.length)) {
      const charge = await market.reserve(listing, renter.publicKey, PRICE_LAMPORTS, settlement);
      await settlement.simulate(charge);
      charges.push(charge);
    }
  }
  return charges;
}

async function chargeRound(
  market: ChargingMarket,
  rented: readonly RentedListing[],
  runsPerListing: number,
  maxCharges?: number,
  atOnce = RUNS_AT_ONCE_PER_LISTING,
): Promise<Round> {
  const settlement = market.settlement(maxCharges);
  const balance = () => market.connection.getBalance(market.authorityKeypair.publicKey);
  const waits: number[] = [];
  // Reservation and simulation are the same for both ways of charging, so they are not measured.
  const admitted = await Promise.all(rented.map((each) => admit(market, settlement, each, runsPerListing)));
  const before = await balance();
  const startedAt = performance.now();
  await Promise.all(
    admitted.flatMap((charges) =>
      Array.from({ length: atOnce }, async () => {
        for (let charge = charges.pop(); charge; charge = charges.pop()) {
          const askedAt = performance.now();
          await settlement.charge(charge, due).confirmed;
          waits.push(performance.now() - askedAt);
        }
      }),
    ),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  return { runs: waits.length, seconds, feeLamports: before - (await balance()), waits };
}
