import type { SealedPlace } from '../database/sealed-places.js';
import { privatePartContext } from './manifest/private-part.js';

/** Where prompts, model keys and webhook secrets are sealed. */
export const SEALED_AGENTS: SealedPlace = {
  name: 'agents',
  table: 'agent_versions',
  id: ['id'],
  column: 'private_part',
  contextOf: ([id]) => privatePartContext(String(id)),
};

/** Binds a sealed registration to its job. */
export const jobContext = (id: string) => `registration-job:${id}`;

/** Where registrations that wait for their job are sealed. */
export const SEALED_REGISTRATIONS: SealedPlace = {
  name: 'registrations',
  table: 'registration_jobs',
  id: ['id'],
  column: 'body',
  contextOf: ([id]) => jobContext(String(id)),
};
