import type { SealedPlace } from '../database/sealed-places.js';
import { serviceKeyContext } from './key-material.js';

/** Where the service's own keys are sealed. */
export const SEALED_SERVICE_KEYS: SealedPlace = {
  name: 'keys of the service',
  table: 'service_keys',
  id: ['purpose', 'number'],
  column: 'sealed',
  contextOf: ([purpose, number]) => serviceKeyContext(String(purpose), Number(number)),
};
