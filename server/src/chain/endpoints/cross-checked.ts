import { setTimeout as wait } from 'node:timers/promises';
import type { PublicKey } from '@solana/web3.js';
import type { Logger } from '../../platform/logger.js';
import { agreedStatus } from './agreed-statuses.js';
import { createFinality } from '../finality.js';
import { createDisputes } from './disputes.js';
import { BehindError, createCheckedEndpoint, type RpcEndpoint } from './endpoint.js';
import { createEndpointPool } from './endpoint-pool.js';
import { createMonotoneSlot } from './monotone-slot.js';
import type { ChainSource, ReadCommitment } from './source.js';

/** How long a read waits for an endpoint to reach a slot, and for the word of a second one: until that is given up. */
const CATCH_UP_MS = 6_000;
const CATCH_UP_POLL_MS = 150;
/**
 * For this long after the loss of one of two endpoints, the other alone cannot say that a transaction left no trace. It
 * is longer than any call, so no caller combines this answer with a height from two endpoints.
 */
const LOST_PAIR_MS = 20_000;

/** Settings for tests. */
export interface CrossCheckOptions {
  now?: () => number;
  random?: () => number;
  patienceMs?: number;
}

/**
 * Reads and writes the chain by several endpoints, none of which is believed alone where money or access is decided.
 * The rules are in docs/adr/0044.
 */
export function createCrossCheckedSource(
  urls: readonly string[],
  logger: Pick<Logger, 'info' | 'warn' | 'error'>,
  options: CrossCheckOptions = {},
): ChainSource {
  const now = options.now ?? (() => performance.now());
  const pool = createEndpointPool(
    urls.map((url) => createCheckedEndpoint(url)),
    { logger, ...options },
  );
  const finality = createFinality((call) => pool.first(call), now);
  const disputes = createDisputes(now);
  const newestRead = { current: createMonotoneSlot(now), finalized: createMonotoneSlot(now) };

  /** Tries again for a time while endpoints are behind. */
  async function caughtUp<T>(read: () => Promise<T>): Promise<T> {
    const until = now() + CATCH_UP_MS;
    for (;;) {
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof BehindError) || now() >= until) throw error;
        await wait(CATCH_UP_POLL_MS);
      }
    }
  }

  async function readAccounts(
    endpoint: RpcEndpoint,
    addresses: readonly PublicKey[],
    commitment: ReadCommitment,
    atLeast: bigint,
  ) {
    const level = commitment === 'current' ? await finality.level() : commitment;
    const found = await endpoint.rpc.getMultipleAccounts(addresses, level, atLeast);
    if (found.accounts.length !== addresses.length) throw new Error('An endpoint left out accounts.');
    const slot = BigInt(found.slot);
    if (commitment === 'current') pool.heard(endpoint, found.slot);
    if (slot < atLeast) throw new BehindError('The endpoint answered at an older slot than was asked for.');
    return { slot, accounts: found.accounts, isFinal: level === 'finalized' };
  }

  async function askStatuses(endpoint: RpcEndpoint, signatures: readonly string[], searchHistory: boolean) {
    const { slot, statuses } = await endpoint.rpc.getSignatureStatuses(signatures, searchHistory);
    if (statuses.length !== signatures.length) throw new Error('An endpoint left out statuses.');
    pool.heard(endpoint, slot);
    return statuses.map(finality.judge);
  }

  return {
    finality,
    only: undefined,
    first: (call, isGood) => pool.first(call, isGood),

    accounts: (addresses, commitment) =>
      caughtUp(async () => {
        const newest = newestRead[commitment];
        const floor = newest.current;
        const found = await pool.first((endpoint) => readAccounts(endpoint, addresses, commitment, floor));
        newest.raise(found.slot);
        return found;
      }),

    accountsOfTwo: (addresses, atLeast = 0n) =>
      caughtUp(async () => {
        const floor = newestRead.current.current;
        const words = await pool.all((endpoint) => readAccounts(endpoint, addresses, 'current', atLeast), {
          most: 2,
        });
        if (words.length < 2 && (atLeast > 0n || pool.voters() >= 2)) {
          throw new BehindError('A second endpoint has not answered.');
        }
        const [newer, older] = words.map(({ value }) => value).toSorted((a, b) => Number(b.slot - a.slot));
        // The older of two is only compared with the newer one.
        if (newer === undefined || newer.slot < floor) throw new BehindError('The endpoints are behind.');
        newestRead.current.raise(newer.slot);
        return older === undefined ? newer : { ...newer, second: older };
      }),

    async statuses(signatures, searchHistory) {
      const words = await pool.all((endpoint) => askStatuses(endpoint, signatures, searchHistory), {
        isVote: true,
        isEnough: (values) =>
          signatures.every((_, index) => {
            const { status } = agreedStatus(
              values.map((value) => value[index] ?? null),
              2,
            );
            return status !== null && status.confirmationStatus !== 'processed';
          }),
      });
      const quorum = pool.voters() >= 2 || words.length >= 2 ? 2 : 1;
      const isPairLost = words.length < 2 && pool.msSincePair() < LOST_PAIR_MS;
      return signatures.map((signature, index) => {
        const told = words.map(({ value }) => value[index] ?? null);
        const { status, isOpenClaim } = agreedStatus(told, quorum);
        if (searchHistory && status === null && isPairLost) {
          throw new Error('Only one endpoint answers, and another one was lost a moment ago.');
        }
        if (disputes.note(signature, isOpenClaim)) {
          const says = Object.fromEntries(
            words.map(({ host }, place) => [host, told[place]?.confirmationStatus ?? 'unknown']),
          );
          logger.error({ signature, says }, 'RPC endpoints do not agree about a transaction');
        }
        return status;
      });
    },

    async finalizedHeight() {
      const words = await pool.all(({ connection }) => connection.getBlockHeight('finalized'));
      // The height that two have passed. One alone cannot say that a transaction is dead.
      const [, second] = words.map(({ value }) => value).toSorted((a, b) => b - a);
      return second ?? 0;
    },

    send: (signedBytes) =>
      pool.send(({ connection }) =>
        connection.sendRawTransaction(signedBytes, { skipPreflight: true, maxRetries: 0 }),
      ),

    requireOneCluster: () => pool.requireOneCluster(),
    stats: () => ({ endpoints: pool.stats(), disputes: disputes.total }),
  };
}
