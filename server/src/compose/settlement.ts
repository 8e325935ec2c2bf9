import type { Metrics } from '../operations/index.js';
import {
  createChargeRepository,
  createChargeSigner,
  createChargeStates,
  createCredits,
  createReceiptSigner,
  createReconciler,
  createSettlement,
} from '../settlement/index.js';
import type { KeyRing } from '../service-keys/index.js';
import type { createRunChanges, createRunRepository } from '../runs/index.js';
import { ApiError } from '../errors/api-error.js';
import type { AppParts } from './app-parts.js';
import type { ListingsAndFiles } from './listings-and-files.js';
import type { Protocol } from './chain/protocol.js';

/** The parts that charge runs, and that settle charges left open by an earlier process. */
export type SettlementPart = ReturnType<typeof composeSettlement>;

/** The effect of a settled charge on its run. */
interface ChargedRuns {
  runs: ReturnType<typeof createRunRepository>;
  changes: ReturnType<typeof createRunChanges>;
}

/** Composes charging, receipts and reconciliation. */
export function composeSettlement(
  { chain, authority, logger, database, config }: AppParts,
  { protocol, fees, funds }: Protocol,
  { indexer }: ListingsAndFiles,
  { runs, changes }: ChargedRuns,
  metrics: Metrics,
  ring: KeyRing,
) {
  const charges = createChargeRepository(database.db);
  const states = createChargeStates(database.db, {
    unfinalizedCapLamports: config.unfinalizedCapLamports,
    moved: (state) => metrics.chargeMoved(state),
  });
  const credits = createCredits(database.db);
  const signer = createChargeSigner({ chain, authority, protocol, fees });
  const reconciler = createReconciler({
    chain,
    charges,
    states,
    credits,
    signer,
    indexer,
    logger,
    runs: {
      async paid(runId) {
        if (await runs.finishHeld(runId)) await changes.announce(runId);
        return runs.wasUndelivered(runId);
      },
      async unpaid(runId) {
        await runs.dropHeld(runId, new ApiError('service_unavailable', 'The charge failed on-chain.'));
        await changes.announce(runId);
      },
      async settled(runId) {
        if (await runs.freeKey(runId)) await changes.announce(runId);
      },
      wasUndelivered: (runId) => runs.wasUndelivered(runId),
    },
  });
  return {
    settlement: createSettlement({ chain, charges, states, credits, signer, indexer, logger, funds }),
    receiptSigner: createReceiptSigner(ring),
    reconciler,
    states,
  };
}
