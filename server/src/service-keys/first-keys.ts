import type { Keys } from '../platform/keys.js';
import { keyMaterial, type KeyMaterial } from './key-material.js';
import { createKeyRing, type KeyRing } from './key-ring.js';
import { KEY_PURPOSES, KEY_PURPOSE_NAMES, type KeyPurposeName } from './purposes.js';

/** The first key of a purpose, as the master key has it. */
export function firstKey(keys: Keys, purpose: KeyPurposeName): KeyMaterial {
  return keyMaterial(purpose, keys.derive(KEY_PURPOSES[purpose].derivedBy));
}

/** The first keys alone, which never change: for a server that keeps none, and for tests. */
export function firstKeyRing(keys: Keys): KeyRing {
  const all = new Map(
    KEY_PURPOSE_NAMES.map((purpose) => {
      const { kid, secret, publicKey } = firstKey(keys, purpose);
      return [
        purpose,
        {
          open: [{ kid, number: 1, secret, signsAtMs: 0, endsAtMs: Number.POSITIVE_INFINITY }],
          published:
            publicKey === null
              ? []
              : [{ kid, publicKey, signsFrom: undefined, signsUntil: undefined, revokedAt: undefined }],
        },
      ];
    }),
  );
  return createKeyRing(() => all);
}
