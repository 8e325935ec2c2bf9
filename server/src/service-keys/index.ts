export { firstKeyRing } from './first-keys.js';
export type { KeyRing, PublishedKey, ServiceKey } from './key-ring.js';
export { listKeys, type ListedKey } from './list-keys.js';
export { acceptMasterKey, cancelMasterKey, proposeMasterKey, type MasterKeyStep } from './master-key.js';
export { KEYS_READ_EVERY_MS, openKeyRing } from './open-key-ring.js';
export { KEY_PURPOSE_NAMES, KEY_PURPOSES, type KeyPurposeName } from './purposes.js';
export { removeEndedKeys, rotateKey, type Rotated } from './rotate.js';
export { SEALED_SERVICE_KEYS } from './sealed-service-keys.js';
