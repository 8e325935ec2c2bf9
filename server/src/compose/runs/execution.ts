import { createWalletHistory } from '../../chain/index.js';
import { readPublishedInput } from '../../http/routes/tools.js';
import { createCallbacks } from '../../events/index.js';
import type { Spending } from '../../spending/index.js';
import {
  createAgentContacts,
  createAgentRuns,
  createKeyTurns,
  createAgentsStats,
  createAgentStats,
  createRenterSpending,
  createConnectedAgents,
  createPastRuns,
  createRunProgress,
  createReceipts,
  createTrials,
  createWaitingCallers,
  runTask,
  type ExecutionServices,
} from '../../runs/index.js';
import { createProposalBuilder, createTransactionService } from '../../transactions/index.js';
import type { AppParts } from '../app-parts.js';
import type { RoutedParts } from '../routed-parts.js';

/** Composes the service that builds and sends the transactions of wallets. */
export function composeTransactions(
  { config, chain, authority }: AppParts,
  { protocol, listingsAndFiles, registration }: RoutedParts,
) {
  const { listings, credentials, indexer } = listingsAndFiles;
  return createTransactionService({
    chain,
    proposals: createProposalBuilder({ chain, authority, ...protocol, network: config.network }),
    listings,
    registration: registration.registration,
    credentials,
    indexer,
  });
}

/** Composes the run pipeline and the services that read runs. */
export function composeExecution(
  { config, logger, database: { db }, chain, keys }: AppParts,
  {
    protocol,
    listingsAndFiles,
    records,
    sandboxes,
    settlement: part,
    runLog,
    httpPart,
    outbound,
    drain,
    metrics,
  }: RoutedParts,
  spending: Spending,
): ExecutionServices {
  const { runs, changes, callerCounts, live, slots, noted, unrecordedEnds } = records;
  const { settlement, receiptSigner } = part;
  const deps = {
    readPublishedInput,
    rateLimits: httpPart.rateLimits,
    executionsPerMinute: config.executionsPerMinute,
    listings: listingsAndFiles.listings,
    chain,
    settlement,
    runs,
    files: listingsAndFiles.files,
    callbacks: createCallbacks(db, outbound),
    waitingCallers: createWaitingCallers({
      runs,
      callerCounts,
      changes,
      logger,
      graceMs: config.reconnectGraceMs,
    }),
    keyTurns: createKeyTurns(),
    live,
    startGate: sandboxes.startGate,
    stepTimes: metrics.stepEnded,
    unrecordedEnds,
    contacts: createAgentContacts(db, logger),
    changes,
    noted,
    trials: createTrials({ db, history: createWalletHistory(chain), holdSeconds: config.trialHoldSeconds }),
    slots,
    declarative: sandboxes.declarative,
    runners: sandboxes.runners,
    connected: createConnectedAgents(outbound),
    keys,
    drain,
  };
  return {
    runTask: (request) => runTask(deps, request),
    pastRuns: createPastRuns({
      runs,
      callerCounts,
      changes,
      settlement,
      progressOf: createRunProgress(db),
    }),
    agentRuns: createAgentRuns(db),
    agentStats: createAgentStats(db),
    agentsStats: createAgentsStats(db),
    renterSpending: createRenterSpending(db),
    receipts: createReceipts({
      runs,
      settlement,
      signer: receiptSigner,
      origin: runLog.origin,
      chain,
      authorities: async () => (await protocol.protocol.current()).authorities,
      logOf: (runId, payloads) => runLog.runLog.entryOf(runId, payloads),
    }),
    spending,
  };
}
