export { createCreatorSecrets } from './creator-secrets.js';
export {
  openPrivatePart,
  sealPrivatePart,
  signingSecrets,
  type ConnectedAgent,
  type DeclarativeAgent,
  type PrivatePart,
} from './manifest/private-part.js';
export { createRegistrationRepository, REGISTRATION_TASK, SAMPLES_TASK } from './repository.js';
export { createReviews, type PendingReview, type Reviews } from './approvals/approvals.js';
export { registrationRoutes } from './routes.js';
export { createSampleTaker, type ReviewRun, type SampleTaker } from './samples/samples.js';
export { createRegistrationService, type PublishableListing, type RegistrationService } from './service.js';
