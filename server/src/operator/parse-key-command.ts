import { KEY_PURPOSE_NAMES, KEYS_READ_EVERY_MS, type KeyPurposeName } from '../service-keys/index.js';
import { OperatorError } from './operator-error.js';

/** An operator's command about keys. */
export type KeyCommand =
  | { name: 'keys' }
  /** Seals anew all that is sealed, with SEALING_KEY or else MASTER_KEY. */
  | { name: 'reseal' }
  | RotateKey
  | { name: 'rotate-master-key'; step: 'propose' | 'accept' | 'cancel' };

interface RotateKey {
  name: 'rotate-key';
  purposes: readonly KeyPurposeName[];
  /** A key has leaked: its signatures count no more. */
  atOnce: boolean;
  /** Default: the lead of each key. */
  leadSeconds?: number;
}

export const KEY_USAGE = `  npm run operator -- keys                              the service's own keys, named and not shown, and which sign
  npm run operator -- rotate-key <key>|all [--lead SECONDS]  the next key of tokens, receipts, challenges, mcp or clients; it
                                                        signs once all replicas, and readers, know it
  npm run operator -- rotate-key <key>|all --at-once    for a key that leaked: its signatures count no more
  npm run operator -- reseal                            seals all that is sealed with SEALING_KEY, or else MASTER_KEY
  npm run operator -- rotate-master-key propose         servers take the key in OTHER_SEALING_KEYS as MASTER_KEY, too
  npm run operator -- rotate-master-key accept|cancel   servers take the present MASTER_KEY alone
`;

/** Replicas that read the keys in turns have missed no more than two. */
const LEAST_LEAD_SECONDS = (3 * KEYS_READ_EVERY_MS) / 1000;
const MOST_LEAD_SECONDS = 30 * 24 * 3600;

/** Reads the rest of `rotate-key`. @throws OperatorError */
export function parseRotateKey(
  key = '',
  { lead, 'at-once': atOnce = false }: { lead?: string; 'at-once'?: boolean },
): RotateKey {
  const purposes = key === 'all' ? KEY_PURPOSE_NAMES : KEY_PURPOSE_NAMES.filter((name) => name === key);
  if (purposes.length === 0) {
    // The typed text may be a key.
    throw new OperatorError(`There is no such key. It is one of: ${KEY_PURPOSE_NAMES.join(', ')}, all.`);
  }
  if (lead === undefined) return { name: 'rotate-key', purposes, atOnce };
  if (atOnce) throw new OperatorError('With --at-once there is no --lead.');
  const leadSeconds = Number(lead);
  if (!/^\d{1,7}$/.test(lead) || leadSeconds < LEAST_LEAD_SECONDS || leadSeconds > MOST_LEAD_SECONDS) {
    throw new OperatorError(
      `The lead is a number of seconds from ${LEAST_LEAD_SECONDS} to ${MOST_LEAD_SECONDS}.`,
    );
  }
  return { name: 'rotate-key', purposes, atOnce, leadSeconds };
}

/** Reads the rest of `rotate-master-key`. @throws OperatorError */
export function parseRotateMasterKey(step = ''): KeyCommand {
  if (step === 'propose' || step === 'accept' || step === 'cancel')
    return { name: 'rotate-master-key', step };
  throw new OperatorError(
    'It is: rotate-master-key propose, accept or cancel. Keys come from the environment alone.',
  );
}
