import type { Call, Rules } from '../call.js';
import { when } from '../errors.js';
import { closeAccount, moveLamports } from '../lamports.js';
import { RECLAIM_AFTER } from '../money.js';
import { pausedSeconds } from '../pauses.js';
import { isPaused, MODEL, STATUS } from '../state.js';
import { isExpired } from '../structure.js';

/** The signer's right: to end the access, to take the balance out, or none. */
function revokersRight(call: Call): 'end' | 'reclaim' | null {
  const signer = call.id('revoker');
  const { creator, status, price, pausedAt, pauses } = call.listing;
  if (signer === call.protocol.admin || signer === creator) {
    return 'end';
  }
  if (signer !== call.id('buyer')) {
    return null;
  }
  if (status === STATUS.closed) {
    call.way = 'reclaims from a closed listing';
    return 'end';
  }
  const ongoing = isPaused(call.listing) ? pausedAt : null;
  if (status === STATUS.suspended) {
    call.way = 'reclaims from a suspended listing';
  } else if (price > call.balance.maxPrice) {
    call.way = 'reclaims above the agreed price';
  } else if (pausedSeconds(pauses, ongoing, call.now) >= RECLAIM_AFTER) {
    call.way =
      ongoing === null ? 'reclaims from an active listing after pauses' : 'reclaims from a paused listing';
  }
  return call.way === null ? null : 'reclaim';
}

function hasAccess(call: Call): boolean {
  const [listing, credential, balance] = ['listing', 'access_credential', 'per_query_balance'].map(
    (name) => call.draft.read(call.id(name)).data,
  );
  if (listing?.type !== 'listing' || credential?.type !== 'access_credential') {
    return false;
  }
  const isOver = listing.status === STATUS.closed || listing.status === STATUS.suspended;
  if (isOver || !credential.valid || isExpired(credential, call.now)) {
    return false;
  }
  const isPrepaid =
    balance?.type === 'per_query_balance' &&
    balance.balance >= listing.price &&
    balance.maxPrice >= listing.price;
  const hasAccess: Readonly<Record<number, boolean>> = {
    [MODEL.oneTime]: true,
    [MODEL.subscription]: true,
    [MODEL.perQuery]: isPrepaid,
  };
  return hasAccess[credential.model] ?? false;
}

/** The rules about revocations, reclaims and the verification of access. */
export const ACCESS_RULES: Rules<'revoke_access' | 'revoke_per_query_access' | 'verify_access'> = {
  revoke_access: (call) =>
    when(call.id('admin') !== call.protocol.admin, 'Unauthorized') ??
    when(
      ![MODEL.oneTime, MODEL.subscription].some((model) => model === call.credential.model),
      'InvalidAccessType',
    ) ??
    call.change('access_credential', { valid: false }),

  revoke_per_query_access(call) {
    const right = revokersRight(call);
    const [id, buyer] = [call.id('per_query_balance'), call.id('buyer')];
    const refund = call.balance.balance;
    if (right === 'end') {
      return call.change('access_credential', { valid: false }) ?? closeAccount(call, id, buyer);
    }
    return (
      when(right === null, 'Unauthorized') ??
      when(refund === 0n, 'NothingToWithdraw') ??
      call.change('per_query_balance', { balance: 0n }) ??
      moveLamports(call, id, buyer, refund)
    );
  },

  verify_access(call) {
    call.returned = hasAccess(call);
    return null;
  },
};
