import type { Db } from '../database/connection.js';
import { resealAll } from '../database/sealed-places.js';
import { SEALED_EMAIL_ADDRESSES, SEALED_PUSHES, SEALED_WEBHOOKS } from '../events/index.js';
import { SEALED_FILES } from '../files/index.js';
import { deriveKeys, type Keys } from '../platform/keys.js';
import { SEALED_AGENTS, SEALED_REGISTRATIONS } from '../registration/index.js';
import { SEALED_OUTPUTS } from '../runs/index.js';
import {
  acceptMasterKey,
  cancelMasterKey,
  KEY_PURPOSES,
  listKeys,
  proposeMasterKey,
  rotateKey,
  SEALED_SERVICE_KEYS,
  type KeyPurposeName,
  type ListedKey,
  type MasterKeyStep,
  type Rotated,
} from '../service-keys/index.js';
import { OperatorError } from './operator-error.js';
import type { KeyCommand } from './parse-key-command.js';

/** The keys of the environment. */
export interface OperatorKeys {
  readonly keys: Keys;
  /** The raw keys of OTHER_SEALING_KEYS. */
  readonly others: readonly Uint8Array[];
}

/** Every sealed column of the database. The content of a column that is missing here is lost with the former key. */
export const SEALED_PLACES = [
  SEALED_SERVICE_KEYS,
  SEALED_AGENTS,
  SEALED_REGISTRATIONS,
  SEALED_OUTPUTS,
  SEALED_FILES,
  SEALED_EMAIL_ADDRESSES,
  SEALED_WEBHOOKS,
  SEALED_PUSHES,
];

/** Runs a command about keys; returns the text to print. @throws OperatorError when it cannot be done. */
export async function runKeyCommand(
  db: Db,
  command: KeyCommand,
  readKeys: () => OperatorKeys | Promise<OperatorKeys>,
): Promise<string> {
  switch (command.name) {
    case 'keys': {
      const keys = await listKeys(db);
      if (keys.length === 0) return noKeys();
      return `${keys.map((key) => describeKey(key, Date.now())).join('\n')}\n\nWhere all other keys are, and how they are rotated: docs/keys.md.`;
    }
    case 'rotate-key': {
      const { keys } = await readKeys();
      const lines: string[] = [];
      for (const purpose of command.purposes)
        lines.push(describeRotated(purpose, await rotateKey(db, keys, purpose, command), command.atOnce));
      return `${lines.join('\n')}\nBack the database up: the new keys are in no backup yet.`;
    }
    case 'reseal': {
      const { resealed, changedMeanwhile } = await resealAll(db, (await readKeys()).keys, SEALED_PLACES);
      return changedMeanwhile > 0
        ? `${resealed} sealed anew; ${changedMeanwhile} changed meanwhile: run reseal again.`
        : `${resealed} sealed anew; all is sealed with the present key. Take the key before out of OTHER_SEALING_KEYS.`;
    }
    case 'rotate-master-key':
      return rotateMasterKey(db, command.step, await readKeys());
    default:
      return command satisfies never;
  }
}

async function rotateMasterKey(
  db: Db,
  step: 'propose' | 'accept' | 'cancel',
  { keys, others }: OperatorKeys,
): Promise<string> {
  switch (step) {
    case 'propose': {
      const [next, ...more] = others;
      if (next === undefined || more.length > 0)
        throw new OperatorError('OTHER_SEALING_KEYS has to hold the next master key, and no other key.');
      requireDone(await proposeMasterKey(db, keys, deriveKeys(next)));
      return 'Servers take the next master key, too: restart them with it as MASTER_KEY and the present one in OTHER_SEALING_KEYS.';
    }
    case 'accept':
      requireDone(await acceptMasterKey(db, keys, SEALED_PLACES));
      return 'Servers take this master key alone. Take the one before out of OTHER_SEALING_KEYS, and destroy it once no backup needs it.';
    case 'cancel':
      requireDone(await cancelMasterKey(db, keys, SEALED_PLACES));
      return 'Servers take this master key alone. Take the one that was proposed out of OTHER_SEALING_KEYS.';
    default:
      return step satisfies never;
  }
}

function requireDone(step: MasterKeyStep): void {
  switch (step.outcome) {
    case 'done':
      return;
    case 'wrong_key':
      throw new OperatorError(
        'MASTER_KEY is the wrong key for this step: propose and cancel need the key of the database, and ' +
          'accept needs the proposed key.',
      );
    case 'none_proposed':
      throw new OperatorError('No other master key is proposed: rotate-master-key propose does it.');
    case 'still_sealed':
      throw new OperatorError(
        `${step.count} in the database are sealed with another key than the present one: run reseal first.`,
      );
    default:
      step satisfies never;
  }
}

function describeKey(
  { purpose, number, kid, state, madeAt, signsFrom, acceptedUntil }: ListedKey,
  now: number,
): string {
  const days = Math.floor((now - madeAt.getTime()) / 86_400_000);
  const what = {
    next: `signs from ${signsFrom.toISOString()}`,
    signs: 'signs',
    accepted: acceptedUntil ? `accepted until ${acceptedUntil.toISOString()}` : 'accepted',
    ended: 'ended',
    revoked: 'revoked: it leaked',
  }[state];
  return `${purpose.padEnd(10)}  ${String(number).padStart(3)}  ${kid.slice(0, 16)}  ${String(days).padStart(4)} days  ${what}`;
}

function describeRotated(purpose: KeyPurposeName, rotated: Rotated, atOnce: boolean): string {
  switch (rotated.outcome) {
    case 'rotated': {
      const name = `${purpose}: ${rotated.kid.slice(0, 16)}`;
      if (atOnce)
        return `${name} signs, on every replica within seconds. The signatures of all former keys count no more.`;
      const { previousUntil } = rotated;
      const before =
        purpose === 'receipts'
          ? 'The signatures of the former key count for ever'
          : `The signatures of the former key count ${previousUntil ? `until ${previousUntil.toISOString()}` : 'without an end'}`;
      return `${name} signs from ${rotated.signsFrom.toISOString()}: ${KEY_PURPOSES[purpose].signs}. ${before}.`;
    }
    case 'no_keys':
      throw new OperatorError(noKeys());
    case 'waits':
      throw new OperatorError(
        `A key of ${purpose} waits already, until ${rotated.signsFrom.toISOString()}. With --at-once all keys before are ended now.`,
      );
    case 'other_sealing_key':
      throw new OperatorError(
        `The keys of ${purpose} are sealed with another key than this environment has, so the servers might not open a new one. ` +
          'Give the servers’ MASTER_KEY and SEALING_KEY; while the sealing key is rotated, run reseal first.',
      );
    default:
      return rotated satisfies never;
  }
}

function noKeys(): string {
  return 'There are no keys yet: start the server once.';
}
