import { PublicKey, type SignatureStatus } from '@solana/web3.js';
import type { Chain } from '../chain/index.js';
import type { Indexer } from '../credentials/index.js';
import type { Logger } from '../platform/logger.js';
import type { ChargeRepository, ChargeRow, SignedCharge } from './charge-repository.js';
import type { ChargeSigner } from './charge-transaction.js';

const ROUND_MS = 2_000;
const BATCH = 200;

type Landed = 'confirmed' | 'finalized' | 'failed' | 'unknown';

/** Follows every open charge to its end, whatever became of the process that began it. */
export interface Reconciler {
  /** One round over the open charges. */
  reconcile(): Promise<void>;
  start(): { stop(): Promise<void> };
}

/**
 * Makes the reconciler. "Failed" is believed only of an error that landed at `finalized`. A charge that left no
 * trace once the finalized height has passed its last blockhash is signed anew, with the same sequence: at
 * most one of its transactions can ever take effect.
 */
export function createReconciler(deps: {
  chain: Chain;
  charges: ChargeRepository;
  signer: ChargeSigner;
  indexer: Indexer;
  /** A run is paid: a result that waited for it may go. Gives whether the run came to nothing and is owed a credit. */
  onPaid(runId: string): Promise<boolean>;
  /** A run will never be paid: a result that waited for it is dropped. */
  onUnpaid(runId: string): Promise<void>;
  logger: Logger;
}): Reconciler {
  const { chain, charges, signer, indexer, logger } = deps;

  async function settle(
    charge: ChargeRow,
    signatures: SignedCharge[],
    landed: Landed,
    heights: { confirmed: bigint; finalized: bigint },
  ): Promise<void> {
    const runId = charge.run_id;
    if (landed === 'confirmed' || landed === 'finalized') {
      await charges.move(runId, ['signed'], 'confirmed');
      const owed = await deps.onPaid(runId);
      if (owed) await charges.credit(runId);
      if (landed === 'finalized') await charges.move(runId, ['confirmed'], owed ? 'credited' : 'finalized');
      return;
    }
    if (landed === 'failed') {
      await deps.onUnpaid(runId);
      await charges.move(runId, ['signed', 'confirmed'], 'failed');
      return;
    }
    const last = signatures.at(-1);
    if (!last || last.lastValidBlockHeight < heights.finalized) {
      const signed = await signer.sign(charge, true);
      await charges.recordSignature(runId, signed);
      await chain.send(signed.wire);
      logger.warn({ run_id: runId }, 'a charge left no trace and was signed anew');
    } else if (last.lastValidBlockHeight >= heights.confirmed) {
      await chain.send(last.wire);
    }
  }

  async function reconcile(): Promise<void> {
    await charges.releaseAbandoned();
    await charges.makeGood();
    const open = await charges.open(BATCH);
    if (open.length === 0) return;
    const heights = {
      confirmed: await chain.blockHeight('confirmed'),
      finalized: await chain.blockHeight('finalized'),
    };
    const all = open.flatMap(({ signatures }) => signatures.map(({ signature }) => signature));
    const statuses = new Map<string, SignatureStatus | null>();
    for (let start = 0; start < all.length; start += 256) {
      const batch = all.slice(start, start + 256);
      const found = await chain.statuses(batch, true);
      for (const [index, signature] of batch.entries()) statuses.set(signature, found[index] ?? null);
    }
    const standing = open
      .map(({ charge, signatures }) => ({
        charge,
        signatures,
        landed: landedState(signatures.map(({ signature }) => statuses.get(signature) ?? null)),
      }))
      // Most only wait to become final; to look after each of them in every round costs more than their runs did.
      .filter(({ charge, landed }) => charge.state !== 'confirmed' || landed !== 'confirmed');
    const isPaid = ({ landed }: { landed: Landed }) => landed === 'confirmed' || landed === 'finalized';
    const settleAll = async (which: typeof standing): Promise<void> => {
      for (const { charge, signatures, landed } of which) {
        await settle(charge, signatures, landed, heights).catch((err: unknown) =>
          logger.error({ err, run_id: charge.run_id }, 'a charge could not be settled; it is tried again'),
        );
      }
    };
    await settleAll(standing.filter((each) => !isPaid(each)));
    const paid = standing.filter(isPaid);
    if (paid.length === 0) return;
    // Before any of them is `finalized`: a charge may only stop counting as open once the index has seen it.
    const balances = new Set(paid.map(({ charge }) => charge.balance_address));
    await indexer.indexAccounts([...balances].map((address) => new PublicKey(address)));
    await settleAll(paid);
  }

  return {
    reconcile,
    start() {
      const stopping = new AbortController();
      const { signal } = stopping;
      let wake = (): void => undefined;
      const follow = async () => {
        // One round after the other: rounds that take longer than the time between them would pile up.
        while (!signal.aborted) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, ROUND_MS);
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
          });
          if (signal.aborted) return;
          await reconcile().catch((err: unknown) =>
            logger.warn({ err }, 'charges could not be reconciled; it is tried again'),
          );
        }
      };
      const following = follow();
      return {
        stop: () => {
          stopping.abort();
          wake();
          return following;
        },
      };
    },
  };
}

/** How far the best of a charge's transactions has come. */
function landedState(statuses: (SignatureStatus | null)[]): Landed {
  const succeeded = statuses.find(
    (status) => status && !status.err && status.confirmationStatus !== 'processed',
  );
  if (succeeded) return succeeded.confirmationStatus === 'finalized' ? 'finalized' : 'confirmed';
  const waiting = statuses.some((status) => status === null || status.confirmationStatus !== 'finalized');
  return waiting ? 'unknown' : 'failed';
}
