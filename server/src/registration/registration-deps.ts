import type { PublicKey } from '@solana/web3.js';
import type { Keys } from '../platform/keys.js';
import type { ContentStore } from '../storage/index.js';
import type { ReviewMode } from './approvals/approval-state.js';
import type { RegistrationRules } from './manifest/validate.js';
import type { RegistrationRepository } from './repository.js';

/** The dependencies of registration. */
export interface RegistrationDeps {
  repository: RegistrationRepository;
  keys: Keys;
  store: ContentStore;
  /** Read for each job: the protocol's least price may change. */
  rules(): Promise<RegistrationRules>;
  programId: PublicKey;
  review: ReviewMode;
  /** How long a publication waits for the run that gives the listing its sample, or for a probe, in milliseconds. */
  lookWaitMs?: number;
}
