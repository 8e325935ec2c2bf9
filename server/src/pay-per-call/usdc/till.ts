import { createDeadline } from '@agent-rental/contract';
import type { PublicKey } from '@solana/web3.js';
import type { AuthoritySigner, Chain } from '../../chain/index.js';
import { ApiError } from '../../errors/api-error.js';
import type { Logger } from '../../platform/logger.js';
import { startRounds, type Rounds } from '../../platform/rounds.js';
import type { PaymentRepository } from '../payment-repository.js';
import { createTokenAccount, signedBy, tokenAccountOf, unitsIn } from './token.js';

const READ_EVERY_MS = 10_000;
const OPENED_WITHIN_MS = 10_000;

/** The till's money for payments in USDC. */
export interface TillState {
  /** In its token account; null where there is none. */
  units: bigint | null;
  /** Lamports that it can still give for USDC now. */
  floatLamports: bigint;
}

/** Holds the USDC of payers, and gives the lamports of their balances from its own. */
export interface UsdcTill {
  readonly mint: PublicKey;
  /** As last read; undefined before the first time. */
  state(): TillState | undefined;
  /** Whether a payment of this worth would be taken, by the last reading. */
  isOpenFor(lamports: bigint): boolean;
  /** Reads anew. @throws ApiError `service_unavailable` where it cannot give these lamports. */
  requireFor(lamports: bigint): Promise<void>;
  /** Reads, and makes the token account where there is none. It never throws. */
  prepare(): Promise<void>;
  /** Does so every 10 s. */
  start(): Rounds;
}

/** Where the till's money is, and its bounds. */
export interface TillPlace {
  chain: Pick<Chain, 'getAccounts'>;
  payments: Pick<PaymentRepository, 'committed'>;
  mint: PublicKey;
  /** The most that it gives for USDC within 24 hours. */
  floatLamports: bigint;
  /** Of its key, which it never gives. */
  reserveLamports: bigint;
}

/** Reads the till's money. @throws ApiError `service_unavailable` where the chain is out of reach */
export async function readTill(
  { chain, payments, mint, floatLamports, reserveLamports }: TillPlace,
  owner: PublicKey,
): Promise<TillState> {
  const [{ accounts }, { openLamports, givenLamports }] = await Promise.all([
    chain.getAccounts([owner, tokenAccountOf(owner, mint)]),
    payments.committed(),
  ]);
  const [own = null, tokens = null] = accounts;
  const free = BigInt(own?.lamports ?? 0) - reserveLamports - openLamports;
  const left = floatLamports - givenLamports;
  const least = free < left ? free : left;
  return { units: unitsIn(tokens, { owner, mint }), floatLamports: least > 0n ? least : 0n };
}

/** Refuses a payment in USDC that was not sent. */
export const noUsdc = () =>
  new ApiError('service_unavailable', 'The marketplace takes no USDC now. Nothing was taken.', {
    next: 'Pay in SOL, or try again later.',
    retryAfterSeconds: 60,
  });

/** Makes the till over its key. */
export function createUsdcTill(
  deps: TillPlace & {
    chain: Pick<Chain, 'getAccounts' | 'latestBlockhash' | 'send' | 'waitForConfirmation'>;
    till: AuthoritySigner;
    logger: Pick<Logger, 'warn'>;
  },
): UsdcTill {
  const { chain, till, mint, logger } = deps;
  let state: TillState | undefined;
  const read = async (): Promise<TillState> => (state = await readTill(deps, till.publicKey));

  const isEnough = (known: TillState | undefined, lamports: bigint): boolean =>
    known !== undefined && known.units !== null && known.floatLamports >= lamports;

  /** Makes the token account, which stays. */
  async function openAccount(): Promise<void> {
    const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash();
    const { signature, bytes } = await signedBy(till, [createTokenAccount(till.publicKey, mint)], blockhash);
    await chain.send(bytes);
    const deadline = createDeadline(OPENED_WITHIN_MS);
    await chain
      .waitForConfirmation(signature, lastValidBlockHeight, deadline.signal)
      .finally(() => deadline.clear());
    await read();
  }

  async function prepare(): Promise<void> {
    try {
      const { units } = await read();
      if (units === null) await openAccount();
    } catch (err) {
      logger.warn({ err }, 'the till of payments in USDC could not be read');
    }
  }

  return {
    mint,
    state: () => state,
    isOpenFor: (lamports) => isEnough(state, lamports),
    async requireFor(lamports) {
      if (isEnough(await read(), lamports)) return;
      throw noUsdc();
    },
    prepare,
    start: () => startRounds(prepare, READ_EVERY_MS, { startsAtOnce: false }),
  };
}
