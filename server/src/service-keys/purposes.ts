/** How keys of a purpose are made, and how one takes over from another. */
interface KeyPurpose {
  /** `ed25519`: others may check its signatures; `secret`: only the service checks them (HMAC). */
  readonly kind: 'ed25519' | 'secret';
  /** The purpose string that derives the first key from the master key. */
  readonly derivedBy: string;
  /** How long a new key is known to all before it signs. */
  readonly leadSeconds: number;
  /** How long the previous key's signatures are accepted once the new key signs; null: without an end. */
  readonly acceptedSeconds: number | null;
  readonly signs: string;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Clocks of replicas differ, and requests are under way. */
const SLACK = 5 * MINUTE;

/** The purposes of the service's own keys. A key of one purpose is never used for another. */
export const KEY_PURPOSES = {
  tokens: {
    kind: 'ed25519',
    derivedBy: 'jwt',
    leadSeconds: MINUTE,
    acceptedSeconds: HOUR + SLACK,
    signs: 'the tokens of logins, which last an hour',
  },
  receipts: {
    kind: 'ed25519',
    derivedBy: 'receipt',
    // Readers keep the published keys for an hour.
    leadSeconds: HOUR + SLACK,
    acceptedSeconds: SLACK,
    signs: 'receipts; its public part stays published for ever',
  },
  cards: {
    kind: 'ed25519',
    derivedBy: 'card',
    // As of receipts.
    leadSeconds: HOUR + SLACK,
    acceptedSeconds: SLACK,
    signs: 'the cards of agents for A2A; its public part stays published for ever',
  },
  challenges: {
    kind: 'secret',
    derivedBy: 'challenge',
    leadSeconds: MINUTE,
    acceptedSeconds: MINUTE + SLACK,
    signs: 'the challenges that wallets sign, which last a minute',
  },
  payments: {
    kind: 'secret',
    derivedBy: 'payment',
    leadSeconds: MINUTE,
    // A payer may present a landed payment late.
    acceptedSeconds: DAY,
    signs: 'the challenges that ask for a payment, which last a minute',
  },
  mcp: {
    kind: 'secret',
    derivedBy: 'mcp',
    leadSeconds: MINUTE,
    acceptedSeconds: 30 * DAY,
    signs: 'values for MCP clients: sessions, ids of events and tasks, questions',
  },
  clients: {
    kind: 'secret',
    derivedBy: 'clients',
    leadSeconds: MINUTE,
    // Apps keep the id under which they registered, and many cannot register again.
    acceptedSeconds: null,
    signs: 'the ids of MCP clients that registered themselves',
  },
} as const satisfies Record<string, KeyPurpose>;

/** The purpose of a key. */
export type KeyPurposeName = keyof typeof KEY_PURPOSES;

/** All purposes. */
export const KEY_PURPOSE_NAMES = Object.keys(KEY_PURPOSES) as KeyPurposeName[];
