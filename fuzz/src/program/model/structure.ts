import type { AddressId } from '../world/universe.js';
import type { Call, Meta } from './call.js';
import { CODE } from './errors.js';
import { CHARGE_ACCOUNTS, instructionRule, type AccountRule, type StateType } from './instruction-table.js';
import {
  ACCOUNT_VERSION,
  dataLength,
  MODEL,
  isOfType,
  VERSION_AT,
  type CredentialState,
  type ModelAccount,
} from './state.js';

/** What an instruction that needs an account is refused with where none is. */
const MISSING: Record<StateType, number> = {
  protocol: CODE.AccountNotInitialized,
  listing: CODE.AccountNotInitialized,
  escrow: CODE.AccountNotInitialized,
  access_credential: CODE.CredentialNotFound,
  per_query_balance: CODE.InvalidAccessType,
};

/**
 * The structural checks: account by account in their order, and of one account writable, signer, owner or existence,
 * type, version, address, and last whether it may be used. Gives the first refusal's code.
 */
export function checkAccounts(call: Call, metas: readonly Meta[]): number | null {
  const { accounts } = instructionRule(call.name);
  if (metas.length < accounts.length) {
    return CODE.AccountNotEnoughKeys;
  }
  call.behind = metas.slice(accounts.length);
  return checkInOrder(call, accounts, metas);
}

function checkInOrder(call: Call, rules: readonly AccountRule[], metas: readonly Meta[]): number | null {
  for (const [index, rule] of rules.entries()) {
    const meta = metas[index];
    if (meta === undefined) {
      return CODE.AccountNotEnoughKeys;
    }
    call.at[rule.name] = meta.id;
    const refused = checkAccount(call, rule, meta);
    if (refused !== null) {
      return refused;
    }
  }
  return null;
}

/** The same of the two accounts of a charge among several, which from here on are the instruction's. */
export function checkChargeAccounts(call: Call, credential: Meta, balance: Meta): number | null {
  const { data } = call.draft.read(credential.id);
  call.at['access_credential'] = credential.id;
  call.at['per_query_balance'] = balance.id;
  call.at['buyer'] = data.type === 'access_credential' ? data.buyer : call.universe.absent;
  return checkInOrder(call, CHARGE_ACCOUNTS, [credential, balance]);
}

function checkAccount(call: Call, rule: AccountRule, meta: Meta): number | null {
  if (rule.writable && !meta.isWritable) {
    return CODE.ConstraintMut;
  }
  if (rule.signer && !meta.isSigner) {
    return CODE.AccountNotSigner;
  }
  if (rule.kind === 'system') {
    return meta.id === call.universe.systemProgram ? null : CODE.InvalidProgramId;
  }
  if (rule.namedByProtocol) {
    return call.protocol.treasury === meta.id ? null : CODE.ConstraintHasOne;
  }
  if (rule.state === undefined) {
    return null;
  }
  const account = call.draft.read(meta.id);
  switch (rule.kind) {
    case 'existing':
      return (
        checkType(call, account, rule.state) ??
        checkAddress(call, rule, rule.state, meta.id) ??
        (isRevoked(account) ? CODE.CredentialRevoked : null)
      );
    case 'maybe':
      return isNothing(call, account)
        ? null
        : (checkType(call, account, rule.state) ?? checkAddress(call, rule, rule.state, meta.id));
    case 'new':
      return checkAddress(call, rule, rule.state, meta.id) ?? checkVacant(call, account, rule.state);
    default:
      return null;
  }
}

/** Nothing was created there; lamports sent there do not count. */
function isNothing(call: Call, account: Readonly<ModelAccount>): boolean {
  return account.owner === call.universe.systemProgram && dataLength(account) === 0;
}

function checkType(call: Call, account: Readonly<ModelAccount>, type: StateType): number | null {
  if (account.owner !== call.universe.program) {
    return isNothing(call, account) ? MISSING[type] : CODE.AccountOwnedByWrongProgram;
  }
  const { data } = account;
  if (data.type !== 'raw') {
    return data.type === type ? null : CODE.AccountDiscriminatorMismatch;
  }
  if (!isOfType(data.bytes, type)) {
    return CODE.AccountDiscriminatorMismatch;
  }
  // One that passes is forged, at an address that its seeds do not give.
  return data.bytes[VERSION_AT] === ACCOUNT_VERSION ? null : CODE.AccountDidNotDeserialize;
}

/** Whether the address is the one, canonical, that the seeds give. */
function checkAddress(call: Call, rule: AccountRule, type: StateType, id: AddressId): number | null {
  if (rule.seeds === undefined) {
    return null;
  }
  const provenance = call.universe.provenance(id);
  const isRight =
    provenance?.kind === type &&
    rule.seeds.length === provenance.seeds.length &&
    rule.seeds.every((seed, index) => seedOf(call, seed) === provenance.seeds[index]);
  return isRight ? null : CODE.ConstraintSeeds;
}

function seedOf(call: Call, seed: string): AddressId | string {
  if (!seed.startsWith('arg:')) {
    return call.id(seed);
  }
  const arg = seed.slice('arg:'.length);
  return typeof call.args[arg] === 'string' ? call.text(arg) : call.address(arg);
}

function isRevoked(account: Readonly<ModelAccount>): boolean {
  return account.data.type === 'access_credential' && !account.data.valid;
}

/** Whether an account can be created: one credential per wallet and listing, for ever. */
function checkVacant(call: Call, account: Readonly<ModelAccount>, type: StateType): number | null {
  if (account.owner !== call.universe.program) {
    return null;
  }
  const mismatch = checkType(call, account, type);
  if (mismatch !== null) {
    return mismatch;
  }
  if (account.data.type !== 'access_credential') {
    return CODE.AccountDiscriminatorAlreadySet;
  }
  if (!account.data.valid) {
    return CODE.CredentialRevoked;
  }
  return isExpired(account.data, call.now) ? CODE.CredentialExpired : CODE.InvalidAccessType;
}

/** A subscription whose end is not in the future. */
export function isExpired(credential: Readonly<CredentialState>, now: bigint): boolean {
  return credential.model === MODEL.subscription && credential.expiresAt <= now;
}
