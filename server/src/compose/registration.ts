import { runnerTools } from '@agent-rental/agent-runner';
import type { OutboundHttp } from '../platform/outbound-http.js';
import { enqueueTask } from '../platform/jobs.js';
import {
  createCreatorSecrets,
  createDraftRemoval,
  createRegistrationRepository,
  createRegistrationService,
  createSampleTaker,
} from '../registration/index.js';
import { createSampleRun } from '../runs/index.js';
import { createFolderContentStore } from '../storage/index.js';
import type { AppParts } from './app-parts.js';
import type { Protocol } from './protocol.js';
import type { Sandboxes } from './sandboxes/sandboxes.js';

/** What creators use: registration, their secrets, drafts and sample runs. */
export type Registration = ReturnType<typeof composeRegistration>;

/** Composes registration. @param stopping aborts sample runs when the server stops. */
export function composeRegistration(
  { config, logger, database, chain, keys, contentFolder }: AppParts,
  { protocol }: Protocol,
  { declarative, unservedTools }: Sandboxes,
  outbound: OutboundHttp,
  stopping: AbortSignal,
) {
  const repository = createRegistrationRepository(database.db, enqueueTask);
  const store = createFolderContentStore(contentFolder);
  const servedTools = new Set(Object.keys(runnerTools).filter((name) => !Object.hasOwn(unservedTools, name)));
  const registration = createRegistrationService({
    repository,
    keys,
    store,
    rules: async () => ({
      outbound,
      servedTools,
      unservedReasons: unservedTools,
      minQueryPriceLamports: (await protocol.current()).minQueryPriceLamports,
    }),
    programId: chain.programId,
    review: config.review,
  });
  return {
    registration,
    secrets: createCreatorSecrets(repository, keys),
    removal: createDraftRemoval({ db: database.db, repository, store, chain }),
    samples: createSampleTaker({
      repository,
      keys,
      run: createSampleRun(declarative, { stopping, logger }),
    }),
  };
}
