import type { Call } from '../call.js';
import { CODE, type Verdict } from '../errors.js';
import { closeAccount, moveLamports } from '../lamports.js';
import { RECLAIM_AFTER } from '../money.js';
import { pausedSeconds } from '../pauses.js';
import { MODEL, STATUS } from '../state.js';
import { isExpired } from '../structure.js';

/** Revokes a One-Time or Subscription credential. */
export function revokeAccess(call: Call): Verdict {
  if (call.id('admin') !== call.protocol.admin) {
    return CODE.Unauthorized;
  }
  if (call.credential.model === MODEL.perQuery) {
    return CODE.InvalidAccessType;
  }
  call.writeState('access_credential').valid = false;
  return null;
}

/** What the signer may do: end the access, only take the balance out, or nothing. */
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
  const isPaused = status === STATUS.paused;
  if (price > call.balance.maxPrice) {
    call.way = 'reclaims above the agreed price';
  } else if (pausedSeconds(pauses, isPaused ? pausedAt : null, call.now) >= RECLAIM_AFTER) {
    call.way = isPaused ? 'reclaims from a paused listing' : 'reclaims from an active listing after pauses';
  }
  return call.way === null ? null : 'reclaim';
}

/** Ends Per-Task access, or gives the balance back. */
export function revokePerQueryAccess(call: Call): Verdict {
  const right = revokersRight(call);
  const id = call.id('per_query_balance');
  const buyer = call.id('buyer');
  if (right === null) {
    return CODE.Unauthorized;
  }
  if (right === 'end') {
    call.writeState('access_credential').valid = false;
    return closeAccount(call, id, buyer);
  }
  const balance = call.writeState('per_query_balance');
  const refund = balance.balance;
  if (refund === 0n) {
    return CODE.NothingToWithdraw;
  }
  balance.balance = 0n;
  return moveLamports(call, id, buyer, refund);
}

/** Whether a wallet may use a listing now. */
export function verifyAccess(call: Call): Verdict {
  call.returned = hasAccess(call);
  return null;
}

function hasAccess(call: Call): boolean {
  const listing = call.draft.read(call.id('listing')).data;
  const credential = call.draft.read(call.id('access_credential')).data;
  const balance = call.draft.read(call.id('per_query_balance')).data;
  if (listing.type !== 'listing' || credential.type !== 'access_credential') {
    return false;
  }
  if (listing.status === STATUS.closed || !credential.valid || isExpired(credential, call.now)) {
    return false;
  }
  if (credential.model !== MODEL.perQuery) {
    return true;
  }
  return (
    balance.type === 'per_query_balance' &&
    balance.balance >= listing.price &&
    balance.maxPrice >= listing.price
  );
}
