export { createCreatorSecrets } from './creator-secrets.js';
export { removeOldSampleRuns } from './drafts/creator-limits.js';
export { createDraftRemoval, LAPSE_CRONTAB, LAPSE_TASK } from './drafts/draft-removal.js';
export { createHealthRepository, HEALTH_TASK } from './health/health-repository.js';
export { createHealthChecks, HEALTH_CRONTAB, HEALTH_ROUND_TASK } from './health/health-checks.js';
export { modelOrigin, VENDOR_URLS } from './manifest/model-origin.js';
export {
  openPrivatePart,
  privatePartContext,
  sealPrivatePart,
  signingSecrets,
  type ConnectedAgent,
  type DeclarativeAgent,
  type PrivatePart,
} from './manifest/private-part.js';
export { createRegistrationRepository, REGISTRATION_TASK, SAMPLES_TASK } from './repository.js';
export { createProber } from './probes/prober.js';
export type { AgentProbe, ProbeFailure, ProbeOutcome } from './probe-outcome.js';
export { PROBE_TASK, removeOldProbeRequests, storeRunFailure } from './probes/probe-records.js';
export { createOwnAgents } from './own-agents.js';
export { createApprovals, type Decided, type PendingReview } from './approvals/approvals.js';
export {
  createReviewSheets,
  type ReviewedAgent,
  type ReviewedVersion,
  type ReviewSheet,
} from './approvals/review-sheet.js';
export {
  endReplacedSecrets,
  EXPIRING_SECRET_TASK,
  REPLACED_SECRETS_TASK,
  tellExpiringSecret,
} from './versions/replaced-secrets.js';
export { endVersionSupport } from './versions/version-support.js';
export { SEALED_AGENTS, SEALED_REGISTRATIONS } from './sealed-places.js';
export { registrationRoutes } from './routes.js';
export { sampleInputOf } from './samples/sample-input.js';
export { createSampleTaker, type ReviewRun } from './samples/samples.js';
export type { PublishableListing } from './approvals/publication.js';
export { createRegistrationService, type RegistrationService } from './service.js';
