import type { KeyPurposeName } from './purposes.js';

/** A key of the service that is open in memory. */
export interface ServiceKey {
  readonly kid: string;
  /** From 1; the first one is the one that releases without rotation had. */
  readonly number: number;
  readonly secret: Buffer;
}

/** The public part of a signing key. */
export interface PublishedKey {
  readonly kid: string;
  /** 32 bytes. */
  readonly publicKey: Buffer;
  /** Absent for the first key. */
  readonly signsFrom: Date | undefined;
  /** Absent while it signs, or will. */
  readonly signsUntil: Date | undefined;
  /** Set for a key that has leaked. */
  readonly revokedAt: Date | undefined;
}

/** A key with its times, in milliseconds of the process's monotonic clock. */
export interface TimedKey extends ServiceKey {
  readonly signsAtMs: number;
  /** Infinity: no end is set. */
  readonly endsAtMs: number;
}

/** The keys of one purpose. A signing key has a public part, which stays published after its end. */
export interface KeysOfPurpose {
  readonly open: readonly TimedKey[];
  readonly published: readonly PublishedKey[];
}

/** The service's keys, as this replica knows them. A rotation changes them without a restart. */
export interface KeyRing {
  /** The key that signs now. */
  present(purpose: KeyPurposeName): ServiceKey;
  /** The keys whose signatures count now: the newest first, the next one, which does not sign yet, included. */
  accepted(purpose: KeyPurposeName): readonly ServiceKey[];
  /** All keys of a purpose with public parts, also ended keys. */
  published(purpose: KeyPurposeName): readonly PublishedKey[];
  /** Reads the keys anew, for an unknown key; at most once a second. */
  refresh(): Promise<void>;
}

/** Makes a ring of the keys that `current` returns. */
export function createKeyRing(
  current: () => ReadonlyMap<KeyPurposeName, KeysOfPurpose>,
  refresh: () => Promise<void> = async () => undefined,
): KeyRing {
  const accepted = (purpose: KeyPurposeName, now = performance.now()): TimedKey[] =>
    (current().get(purpose)?.open ?? [])
      .filter(({ endsAtMs }) => endsAtMs > now)
      .toSorted((a, b) => b.number - a.number);
  return {
    present(purpose) {
      const now = performance.now();
      const all = accepted(purpose, now);
      const signing = all.find(({ signsAtMs }) => signsAtMs <= now) ?? all.at(-1);
      if (signing === undefined) throw new Error(`There is no key for ${purpose}.`);
      return signing;
    },
    accepted: (purpose) => accepted(purpose),
    published: (purpose) => current().get(purpose)?.published ?? [],
    refresh,
  };
}
