import { REFUSAL_TEXT, TRIAL_WALLET_LAMPORTS } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { WalletHistory } from '../../chain/index.js';
import type { Db } from '../../database/connection.js';
import { ApiError } from '../../errors/api-error.js';
import { rentedElsewhere, type PublishedListing } from '../../listings/index.js';

/** Whose free run of which listing. */
interface TrialRequest {
  runId: string;
  wallet: string;
  listing: Pick<PublishedListing, 'id' | 'creator' | 'freeTrial'>;
  /** The address that sent the request, or its network. */
  address?: string | undefined;
}

/** Free first runs, one for each wallet and listing, of listings whose creators offer them. */
export interface Trials {
  /**
   * Turns away a wallet that had its free run, that may have none, or that has nothing to lose. Nothing is spent on it before.
   *
   * @throws ApiError 403 `credential_not_found` with the next step.
   */
  requireOpen(request: Pick<TrialRequest, 'wallet' | 'listing'>): Promise<void>;
  /**
   * Takes it, for a run that is on record.
   *
   * @throws ApiError 403 where it was used meanwhile; 429 where the listing, the address or the wallet has had as many as it may.
   */
  take(request: Omit<TrialRequest, 'listing'> & { listing: { id: string } }): Promise<void>;
  /** Gives it back, for a run that did not reach its agent. One that could not be served gives it back by itself. */
  giveBack(runId: string): Promise<void>;
}

/** The limits, and when a caller may try again. */
const REACHED = {
  listing: ['This agent has given as many free runs as it may within 24 hours.', 'tomorrow'],
  hour: ['This agent has given as many free runs as it may within an hour.', 'in an hour'],
  address: ['Your address has had as many free runs of this agent as it may within 24 hours.', 'tomorrow'],
  wallet: ['This wallet has had as many free runs as it may within 24 hours.', 'tomorrow'],
} as const;

/**
 * Makes them.
 *
 * @param holdSeconds for which a wallet without a rental must have held its SOL; 0 asks for its present balance alone
 */
export function createTrials({
  db,
  history,
  holdSeconds,
}: {
  db: Db;
  history: Pick<WalletHistory, 'lowestLamports'>;
  holdSeconds: number;
}): Trials {
  const used = (listingId: string) => new ApiError('credential_not_found', REFUSAL_TEXT.trialUsed(listingId));

  /** Wallets are made for nothing: one with a rental has paid for it, another one has to hold some SOL for a time. */
  async function requireSubstance(wallet: string): Promise<void> {
    const { rows } = await sql`select from credentials where buyer = ${wallet} and valid limit 1`.execute(db);
    if (rows.length > 0) return;
    const lowest = await history.lowestLamports(wallet, holdSeconds);
    if (lowest !== null && lowest >= TRIAL_WALLET_LAMPORTS) return;
    const refusal = lowest === null ? REFUSAL_TEXT.trialOfBusyWallet : REFUSAL_TEXT.trialWithoutSubstance;
    throw new ApiError('credential_not_found', refusal(holdSeconds / 60));
  }

  /** A rental from the creator itself, or from the wallet itself, costs next to nothing. */
  async function requireRenter(wallet: string, listing: TrialRequest['listing']): Promise<void> {
    const { rows } = await sql<{ rented: boolean }>`
      select ${rentedElsewhere(sql`${wallet}::text`, sql`${listing.creator}::text`)} as rented`.execute(db);
    if (rows[0]?.rented === true) return;
    throw new ApiError('credential_not_found', REFUSAL_TEXT.trialForRenters(listing.id));
  }

  return {
    async requireOpen({ wallet, listing }) {
      const taken = await db
        .selectFrom('trials')
        .select('run_id')
        .where('wallet', '=', wallet)
        .where('listing_id', '=', listing.id)
        .executeTakeFirst();
      if (taken) throw used(listing.id);
      await (listing.freeTrial === 'renters' ? requireRenter(wallet, listing) : requireSubstance(wallet));
    },
    async take({ runId, wallet, listing, address }) {
      const { rows } = await sql<{ outcome: 'taken' | 'used' | keyof typeof REACHED }>`
        select take_trial(${runId}::uuid, ${listing.id}, ${wallet}, ${address ?? null}) as outcome`.execute(
        db,
      );
      const outcome = rows[0]?.outcome;
      if (outcome === 'taken') return;
      if (outcome === 'used') throw used(listing.id);
      const [reached, later] = REACHED[outcome ?? 'listing'];
      throw new ApiError('rate_limit_exceeded', reached, {
        next: `Rent the agent with POST /v1/transactions, or try again ${later}.`,
        retryAfterSeconds: 3_600,
      });
    },
    async giveBack(runId) {
      await db.deleteFrom('trials').where('run_id', '=', runId).execute();
    },
  };
}
