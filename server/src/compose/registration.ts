import { runnerTools, type ToolDefinition } from '@agent-rental/agent-runner';
import type { AgentToolName } from '@agent-rental/contract';
import type { OutboundHttp } from '../platform/outbound-http.js';
import { enqueueTask } from '../jobs/jobs.js';
import {
  createCreatorSecrets,
  createDraftRemoval,
  createHealthChecks,
  createHealthRepository,
  createOwnAgents,
  createProber,
  createRegistrationRepository,
  createRegistrationService,
  createSampleTaker,
} from '../registration/index.js';
import { createModelGateway } from '../model-gateway/index.js';
import { createAgentProbe, createConnectedAgents, createSampleRun } from '../runs/index.js';
import type { AppParts } from './app-parts.js';
import type { Content } from './content.js';
import type { Protocol } from './chain/protocol.js';
import type { Sandboxes } from './sandboxes/sandboxes.js';

/** The parts for creators: registration, their secrets, drafts and sample runs. */
export type Registration = ReturnType<typeof composeRegistration>;

/** Composes registration. @param stopping aborts sample runs when the server stops. */
export function composeRegistration(
  { config, logger, database, chain, keys }: AppParts,
  { store }: Content,
  { protocol }: Protocol,
  { declarative, runners, unservedTools }: Sandboxes,
  outbound: OutboundHttp,
  stopping: AbortSignal,
) {
  const repository = createRegistrationRepository(database.db, enqueueTask);
  const tools: Readonly<Record<AgentToolName, ToolDefinition>> = runnerTools;
  const servedTools = new Set(Object.keys(tools).filter((name) => !Object.hasOwn(unservedTools, name)));
  const registration = createRegistrationService({
    repository,
    keys,
    store,
    rules: async () => ({
      outbound,
      canAllowLoopback: config.allowedLoopback !== undefined,
      servedTools,
      unservedReasons: unservedTools,
      minQueryPriceLamports: (await protocol.current()).minQueryPriceLamports,
    }),
    programId: chain.programId,
    review: config.review,
  });
  const run = createSampleRun(
    { declarative, runners, connected: createConnectedAgents(outbound) },
    { stopping, logger },
  );
  return {
    run,
    registration,
    secrets: createCreatorSecrets(repository, keys),
    removal: createDraftRemoval({ db: database.db, repository, store, chain }),
    ownAgents: createOwnAgents(database.db),
    prober: createProber({
      repository,
      keys,
      probe: createAgentProbe({ outbound, gateway: createModelGateway(outbound) }, { stopping }),
    }),
    samples: createSampleTaker({ repository, keys, run }),
    health: createHealthChecks({
      repository: createHealthRepository(database.db, enqueueTask),
      keys,
      run,
      logger,
    }),
  };
}
