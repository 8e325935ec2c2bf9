import type { AddressId } from '../world/universe.js';
import type { Call } from './call.js';
import { when, type Verdict } from './errors.js';
import {
  CHARGE_ACCOUNTS,
  instructionRule,
  type AccountRule,
  type Meta,
  type StateType,
} from './instruction-table.js';
import {
  ACCOUNT_VERSION,
  dataLength,
  isOfType,
  MODEL,
  VERSION_AT,
  type ModelAccount,
  type StateOf,
} from './state.js';

/** The refusals for a missing account, by type. Other types: `AccountNotInitialized`. */
const MISSING: Partial<Record<StateType, string>> = {
  access_credential: 'CredentialNotFound',
  per_query_balance: 'InvalidAccessType',
};

/**
 * The structural checks of the accounts in their order. The checks of one account, in order: writable, signer, owner or existence,
 * type, version, address, usability.
 *
 * @returns the first refusal
 */
export function checkAccounts(call: Call, metas: readonly Meta[]): Verdict {
  const { accounts } = instructionRule(call.name);
  if (metas.length < accounts.length) {
    return 'AccountNotEnoughKeys';
  }
  call.behind = metas.slice(accounts.length);
  return checkInOrder(call, accounts, metas);
}

/** Checks the two accounts of one charge among several. They become the instruction's accounts. */
export function checkChargeAccounts(call: Call, credential: Meta, balance: Meta): Verdict {
  const { data } = call.draft.read(credential.id);
  call.at['buyer'] = data.type === 'access_credential' ? data.buyer : call.universe.absent;
  return checkInOrder(call, CHARGE_ACCOUNTS, [credential, balance]);
}

function checkInOrder(call: Call, rules: readonly AccountRule[], metas: readonly Meta[]): Verdict {
  for (const [index, meta] of metas.slice(0, rules.length).entries()) {
    const rule = rules[index];
    if (rule !== undefined) {
      call.at[rule.name] = meta.id;
      const refused = checkAccount(call, rule, meta);
      if (refused !== null) {
        return refused;
      }
    }
  }
  return null;
}

function checkAccount(call: Call, rule: AccountRule, { id, isWritable, isSigner }: Meta): Verdict {
  const refused =
    when(rule.writable === true && !isWritable, 'ConstraintMut') ??
    when(rule.signer === true && !isSigner, 'AccountNotSigner') ??
    when(rule.kind === 'system' && id !== call.universe.systemProgram, 'InvalidProgramId') ??
    when(rule.namedByProtocol === true && id !== call.protocol.treasury, 'ConstraintHasOne');
  if (refused !== null || rule.state === undefined) {
    return refused;
  }
  const account = call.draft.read(id);
  if (rule.kind === 'new') {
    return checkAddress(call, rule, id) ?? checkVacant(call, account, rule.state);
  }
  if (rule.kind === 'maybe' && isNothing(call, account)) {
    return null;
  }
  if (rule.kind === 'ensured' && account.owner !== call.universe.program) {
    return checkAddress(call, rule, id);
  }
  const isRevoked = account.data.type === 'access_credential' && !account.data.valid;
  return (
    checkType(call, account, rule.state) ??
    checkAddress(call, rule, id) ??
    when((rule.kind === 'existing' || rule.kind === 'ensured') && isRevoked, 'CredentialRevoked')
  );
}

/** Whether an address has no account, apart from donated lamports. */
function isNothing(call: Call, account: Readonly<ModelAccount>): boolean {
  return account.owner === call.universe.systemProgram && dataLength(account) === 0;
}

function checkType(call: Call, account: Readonly<ModelAccount>, type: StateType): Verdict {
  const { data } = account;
  if (account.owner !== call.universe.program) {
    return isNothing(call, account)
      ? (MISSING[type] ?? 'AccountNotInitialized')
      : 'AccountOwnedByWrongProgram';
  }
  if (data.type !== 'raw') {
    return when(data.type !== type, 'AccountDiscriminatorMismatch');
  }
  // An account that passes is a forgery at a wrong address, which the address check refuses.
  return (
    when(!isOfType(data.bytes, type), 'AccountDiscriminatorMismatch') ??
    when(data.bytes[VERSION_AT] !== ACCOUNT_VERSION, 'AccountDidNotDeserialize')
  );
}

/** Checks that the address is the canonical one of its seeds. */
function checkAddress(call: Call, { seeds, state }: AccountRule, id: AddressId): Verdict {
  const provenance = call.universe.provenance(id);
  const isRight =
    seeds === undefined ||
    (provenance?.kind === state &&
      seeds.length === provenance?.seeds.length &&
      seeds.every((seed, index) => seedOf(call, seed) === provenance.seeds[index]));
  return when(!isRight, 'ConstraintSeeds');
}

function seedOf(call: Call, seed: string): AddressId | string | null {
  if (!seed.startsWith('arg:')) {
    return call.id(seed);
  }
  const arg = call.args[seed.slice('arg:'.length)];
  return typeof arg === 'string' ? arg : call.address(seed.slice('arg:'.length));
}

/** Checks that an account can be created. A wallet has at most one credential per listing, for ever. */
function checkVacant(call: Call, account: Readonly<ModelAccount>, type: StateType): Verdict {
  if (account.owner !== call.universe.program) {
    return null;
  }
  const { data } = account;
  return (
    checkType(call, account, type) ??
    when(data.type !== 'access_credential', 'AccountDiscriminatorAlreadySet') ??
    when(data.type === 'access_credential' && !data.valid, 'CredentialRevoked') ??
    when(data.type === 'access_credential' && isExpired(data, call.now), 'CredentialExpired') ??
    'InvalidAccessType'
  );
}

/** Whether a credential is an expired subscription. */
export function isExpired(credential: Readonly<StateOf<'access_credential'>>, now: bigint): boolean {
  return credential.model === MODEL.subscription && credential.expiresAt <= now;
}
