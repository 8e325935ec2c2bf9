import {
  createBatchSigner,
  createChainLog,
  createRunLog,
  createRunLogPublisher,
  createRunLogRepository,
  leafOf,
} from '../../run-log/index.js';
import { receiptOf, type ReceiptOrigin } from '../../runs/index.js';
import { receiptPayload } from '../../settlement/index.js';
import type { AppParts } from '../app-parts.js';
import type { Protocol } from '../chain/protocol.js';

/** The shortest time between two batches of the run log: each costs a signature. */
const BATCH_INTERVAL_SECONDS = 60;

/** The part that logs runs without a charge on-chain. */
export type RunLogPart = ReturnType<typeof composeRunLog>;

/** Composes the run log. */
export function composeRunLog(
  { chain, authority, logger, database, config }: AppParts,
  { protocol, fees }: Protocol,
) {
  const origin: ReceiptOrigin = { network: config.network, program_id: chain.programId.toBase58() };
  const repository = createRunLogRepository(database.db, { intervalSeconds: BATCH_INTERVAL_SECONDS });
  const chainLog = createChainLog({
    chain,
    authorities: async () => [authority.publicKey, ...(await protocol.current()).authorities],
  });
  return {
    origin,
    runLog: createRunLog(repository),
    publisher: createRunLogPublisher({
      chain,
      chainLog,
      repository,
      signer: createBatchSigner({ chain, authority, fees }),
      leafOf: (run) => leafOf(receiptPayload(receiptOf(run, undefined, origin))),
      logger,
    }),
  };
}
