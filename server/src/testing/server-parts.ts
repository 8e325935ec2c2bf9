import { loginOf } from './owners.js';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { createChain, createProgramHistory } from '../chain/index.js';
import { createCredentialRepository, createIndexer, indexedStatusOf } from '../credentials/index.js';
import { openDatabase, type OpenDatabase } from '../database/connection.js';
import { createListingRepository, createListingService } from '../listings/index.js';
import { createLogger } from '../platform/logger.js';
import { createSlotRepository } from '../runs/index.js';
import {
  createChargeRepository,
  createChargeStates,
  createCredits,
  createOwnCharges,
  createReconciler,
} from '../settlement/index.js';

const BOUNDS = { slots: 20, queueLength: 20, ownLength: 10, leaseMs: 60_000, claimMs: 15_000 };

/** Separate parts of the server, on a database and a chain, for measurements that no request shows alone. */
export interface ServerParts extends OpenDatabase {
  /** A round of the reconciler over a database in which nothing is open. */
  reconcilerRound(): Promise<void>;
  /** A wallet's access to a listing by the index, as each run asks. */
  accessOf(wallet: string, listingId: string): Promise<string>;
  /** Takes a slot of a listing for a run on record, and frees it. */
  takeSlot(listingId: string, runId: string, wallet: string): Promise<void>;
  /** Indexes that a listing was paused or goes on, as the chain tells it. */
  indexListing(listing: IndexedListing, status: 'active' | 'paused', slot: bigint): Promise<void>;
  /** Brings the index of this database up to the chain, as a start does. */
  catchUp(): Promise<void>;
}

/** A listing of the database. */
export interface IndexedListing {
  readonly id: string;
  readonly address: string;
}

/** Opens them. */
export function openServerParts(databaseUrl: string, rpcUrl: string): ServerParts {
  const database = openDatabase(databaseUrl, () => undefined);
  const { db } = database;
  const chain = createChain(rpcUrl, MARKETPLACE_PROGRAM_ID);
  const logger = createLogger('silent');
  const repository = createCredentialRepository(db);
  const indexer = createIndexer(chain, repository, logger, 1_000, {
    history: createProgramHistory(rpcUrl, MARKETPLACE_PROGRAM_ID),
    ownCharges: createOwnCharges(db, MARKETPLACE_PROGRAM_ID),
  });
  const listings = createListingService(createListingRepository(database));
  const slots = createSlotRepository(db, 'agent_rental_runs');
  const none = () => Promise.reject(new Error('There is an open charge.'));
  const reconciler = createReconciler({
    chain,
    charges: createChargeRepository(db),
    states: createChargeStates(db, { unfinalizedCapLamports: 10n ** 18n }),
    credits: createCredits(db),
    signer: { sign: none, message: none, rebuilt: none, countThatFit: none },
    indexer,
    logger,
    runs: { paid: none, unpaid: none, settled: none, wasUndelivered: none },
  });
  return {
    ...database,
    reconcilerRound: () => reconciler.reconcile(),
    async accessOf(wallet, listingId) {
      const { listing, rental } = await listings.findFor(loginOf(wallet), listingId);
      return indexedStatusOf(listing, rental).status;
    },
    async takeSlot(listingId, runId, wallet) {
      const entry = await slots.enter({ runId, listingId, wallet, isPriority: false }, BOUNDS);
      if (entry !== 'seated') throw new Error(`A free slot could not be taken: ${entry}.`);
      await slots.leave(runId);
    },
    indexListing: ({ id, address }, status, slot) =>
      repository.apply(
        [
          {
            kind: 'listing',
            id,
            address,
            fields: {
              rental_model: 'per_query',
              status,
              price_lamports: 1_000_000n,
              min_deposit_lamports: 0n,
              metadata_uri: 'ipfs://bench',
              created_at: new Date('2026-01-01T00:00:00Z'),
            },
          },
        ],
        slot,
        true,
      ),
    catchUp: () => indexer.catchUp(),
  };
}
