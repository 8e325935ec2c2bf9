export { createCreatorSecrets } from './creator-secrets.js';
export { removeOldSampleRuns } from './drafts/creator-limits.js';
export { createDraftRemoval, LAPSE_CRONTAB, LAPSE_TASK } from './drafts/draft-removal.js';
export { modelOrigin, VENDOR_URLS } from './manifest/model-origin.js';
export {
  openPrivatePart,
  sealPrivatePart,
  signingSecrets,
  type ConnectedAgent,
  type DeclarativeAgent,
  type PrivatePart,
} from './manifest/private-part.js';
export { createRegistrationRepository, REGISTRATION_TASK, SAMPLES_TASK } from './repository.js';
export { createReviews, type Decided, type PendingReview } from './approvals/approvals.js';
export { registrationRoutes } from './routes.js';
export { createSampleTaker, type ReviewRun } from './samples/samples.js';
export type { PublishableListing } from './approvals/publication.js';
export { createRegistrationService, type RegistrationService } from './service.js';
