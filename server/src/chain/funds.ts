import type { PublicKey } from '@solana/web3.js';
import { ApiError } from '../errors/api-error.js';
import type { Logger } from '../platform/logger.js';
import { startRounds, type Rounds } from '../platform/rounds.js';
import type { AuthoritySigner } from './signers/keypair-signer.js';
import type { Chain } from './chain.js';
import type { ProtocolReader } from './protocol.js';

const READ_EVERY_MS = 10_000;

/** The balances of the authority and the treasury, and their minimums. */
interface FundsState {
  authority: PublicKey;
  authorityLamports: bigint;
  /** Below it no Per-Task run is taken: the rent-exempt minimum, and the fees of the charges in flight. */
  authorityReserveLamports: bigint;
  treasuryLamports: bigint;
  /** Below it the chain's runtime refuses charges. */
  treasuryMinimumLamports: bigint;
  /** The missing amount; undefined where nothing is missing. */
  missing: 'authority' | 'treasury' | undefined;
}

/** Watches the lamports without which no run can be charged. */
export interface Funds {
  /** Reads the accounts. Rejects where the chain cannot be reached; earlier reads stay. */
  read(): Promise<void>;
  /** Reads them every 10 s. */
  start(): Rounds;
  /** As last read; undefined before the first time. */
  state(): FundsState | undefined;
  /**
   * To be asked before a run that is charged.
   *
   * @throws ApiError `service_unavailable` when its charge might not be paid for.
   */
  requireForCharge(): void;
}

/**
 * Makes the watch. Charges in flight pay from the reserve, so new runs are refused before the authority runs dry.
 *
 * @param reserveLamports for the fees of charges in flight
 */
export function createFunds(deps: {
  chain: Pick<Chain, 'getAccounts' | 'minimumBalance'>;
  authority: Pick<AuthoritySigner, 'publicKey'>;
  protocol: Pick<ProtocolReader, 'current'>;
  reserveLamports: bigint;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}): Funds {
  const { chain, authority, protocol, reserveLamports, logger } = deps;
  let state: FundsState | undefined;

  async function read(): Promise<void> {
    const [{ treasury }, minimum] = await Promise.all([protocol.current(), chain.minimumBalance(0)]);
    const { publicKey } = authority;
    const { accounts } = await chain.getAccounts([publicKey, treasury]);
    const [authorityLamports = 0n, treasuryLamports = 0n] = accounts.map((account) =>
      BigInt(account?.lamports ?? 0),
    );
    const before = state?.missing;
    const authorityReserveLamports = minimum + reserveLamports;
    const isAuthorityLow = authorityLamports < authorityReserveLamports;
    const missing = isAuthorityLow ? 'authority' : treasuryLamports < minimum ? 'treasury' : undefined;
    state = {
      authority: publicKey,
      authorityLamports,
      authorityReserveLamports,
      treasuryLamports,
      treasuryMinimumLamports: minimum,
      missing,
    };
    if (missing === before) return;
    const fields = {
      authority: publicKey.toBase58(),
      authority_lamports: Number(authorityLamports),
      treasury: treasury.toBase58(),
      treasury_lamports: Number(treasuryLamports),
    };
    if (missing === undefined) logger.info(fields, 'per-task runs are taken again');
    else logger.error({ ...fields, missing }, 'per-task runs are refused: lamports are missing');
  }

  return {
    read,
    start: () =>
      startRounds(
        () =>
          read().catch((err: unknown) =>
            logger.warn({ err }, 'the lamports of authority and treasury could not be read'),
          ),
        READ_EVERY_MS,
        { startsAtOnce: true },
      ),
    state: () => state,
    requireForCharge() {
      if (state?.missing === undefined) return;
      throw new ApiError(
        'service_unavailable',
        'The service takes no Per-Task runs at the moment: it lacks the lamports that charges need on-chain.',
        { next: 'Nothing was charged; try again later. Other rentals work.', retryAfterSeconds: 60 },
      );
    },
  };
}
