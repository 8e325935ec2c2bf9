import { REFUSAL_TEXT, TRIAL_WALLET_LAMPORTS } from '@agent-rental/contract';
import { PublicKey } from '@solana/web3.js';
import { sql } from 'kysely';
import type { Chain } from '../../chain/index.js';
import type { Db } from '../../database/connection.js';
import { ApiError } from '../../errors/api-error.js';

/** Whose free run of which listing. */
interface TrialRequest {
  runId: string;
  wallet: string;
  listing: { id: string };
  /** The address that sent the request, or its network. */
  address?: string | undefined;
}

/** Free first runs, one for each wallet and listing, of listings whose creators offer them. */
export interface Trials {
  /**
   * Turns away a wallet that has had the free run, or has nothing to lose, before anything is spent on it.
   *
   * @throws ApiError 403 `credential_not_found` with the next step.
   */
  requireOpen(request: Pick<TrialRequest, 'wallet' | 'listing'>): Promise<void>;
  /**
   * Takes it, for a run that is on record.
   *
   * @throws ApiError 403 where it was used meanwhile; 429 where the listing, the address or the wallet has had as many as it may.
   */
  take(request: TrialRequest): Promise<void>;
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

export function createTrials({ db, chain }: { db: Db; chain: Pick<Chain, 'getAccounts'> }): Trials {
  const used = (listingId: string) => new ApiError('credential_not_found', REFUSAL_TEXT.trialUsed(listingId));

  /** Wallets are made for nothing: one with a rental has paid for it, another one has to hold some SOL. */
  async function hasSubstance(wallet: string): Promise<boolean> {
    const rented = await db
      .selectFrom('credentials')
      .select('address')
      .where('buyer', '=', wallet)
      .limit(1)
      .executeTakeFirst();
    if (rented) return true;
    const { accounts } = await chain.getAccounts([new PublicKey(wallet)]);
    return BigInt(accounts[0]?.lamports ?? 0) >= TRIAL_WALLET_LAMPORTS;
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
      if (!(await hasSubstance(wallet))) {
        throw new ApiError('credential_not_found', REFUSAL_TEXT.trialWithoutSubstance);
      }
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
