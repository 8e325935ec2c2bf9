import type { AddressId } from '../../world/universe.js';
import type { Call } from '../call.js';
import { CODE, type Verdict } from '../errors.js';
import { createAccount, programRent } from '../lamports.js';
import { MAX_FEE_BPS, MAX_PRICE, MIN_PRICE } from '../money.js';
import { dataLength, STATE_SIZES } from '../state.js';
import { isNamed } from './roles.js';

const PROGRAM_DATA_TAG = 3;
const AUTHORITY_TAG_AT = 12;
const AUTHORITY_AT = 13;

function checkUpgradeAuthority(call: Call): Verdict {
  const id = call.id('program_data');
  if (call.universe.provenance(id)?.kind !== 'program_data') {
    return CODE.ConstraintSeeds;
  }
  const account = call.draft.read(id);
  if (account.owner !== call.universe.loader) {
    return CODE.AccountOwnedByWrongProgram;
  }
  const bytes = account.data.type === 'raw' ? account.data.bytes : Buffer.alloc(0);
  if (bytes.length < AUTHORITY_AT + 32 || bytes.readUInt32LE() !== PROGRAM_DATA_TAG) {
    return CODE.AccountDidNotDeserialize;
  }
  const signer = call.universe.key(call.id('upgrade_authority'));
  const isAuthority =
    bytes[AUTHORITY_TAG_AT] === 1 && bytes.subarray(AUTHORITY_AT, AUTHORITY_AT + 32).equals(signer);
  return isAuthority ? null : CODE.Unauthorized;
}

function checkFee(feeBps: unknown): Verdict {
  return typeof feeBps === 'number' && feeBps > MAX_FEE_BPS ? CODE.FeeTooHigh : null;
}

function checkPriceFloor(price: bigint): Verdict {
  if (price < MIN_PRICE) {
    return CODE.PriceTooLow;
  }
  return price > MAX_PRICE ? CODE.ArithmeticOverflow : null;
}

/** A treasury is owned by the System program and rent-exempt, so that a fee always reaches it. */
function checkTreasury(call: Call, id: AddressId): Verdict {
  const account = call.draft.read(id);
  if (account.owner !== call.universe.systemProgram) {
    return CODE.AccountNotSystemOwned;
  }
  const rent = programRent(call, dataLength(account));
  if (typeof rent !== 'bigint') {
    return rent;
  }
  return account.lamports < rent ? CODE.ConstraintRentExempt : null;
}

/** Creates the protocol: the upgrade authority alone may. */
export function initializeProtocol(call: Call): Verdict {
  const minQueryPrice = call.amount('min_query_price_lamports');
  const treasury = call.id('treasury');
  return (
    checkUpgradeAuthority(call) ??
    checkFee(call.args['fee_bps']) ??
    checkPriceFloor(minQueryPrice) ??
    checkTreasury(call, treasury) ??
    createAccount(
      call,
      call.id('upgrade_authority'),
      {
        type: 'protocol',
        admin: call.address('admin'),
        pendingAdmin: call.universe.systemProgram,
        authority: call.address('authority'),
        nextAuthority: call.universe.systemProgram,
        treasury,
        feeBps: Number(call.args['fee_bps']),
        minQueryPrice,
        paused: false,
      },
      STATE_SIZES.protocol,
    )
  );
}

/** Changes the protocol; the pending admin accepts by signing. */
export function updateProtocol(call: Call): Verdict {
  const signer = call.id('admin');
  const protocol = call.writeState('protocol');
  if (signer !== protocol.admin) {
    if (!isNamed(call, signer, protocol.pendingAdmin)) {
      return CODE.Unauthorized;
    }
    protocol.admin = signer;
    protocol.pendingAdmin = call.universe.systemProgram;
  }
  if (call.args['pending_admin'] !== null) {
    protocol.pendingAdmin = call.address('pending_admin');
  }
  if (call.args['authority'] !== null) {
    protocol.authority = call.address('authority');
  }
  if (call.args['next_authority'] !== null) {
    protocol.nextAuthority = call.address('next_authority');
  }
  const treasury = call.id('new_treasury');
  if (treasury !== call.universe.program) {
    const refused = checkTreasury(call, treasury);
    if (refused !== null) {
      return refused;
    }
    protocol.treasury = treasury;
  }
  const feeBps = call.args['fee_bps'];
  if (typeof feeBps === 'number') {
    protocol.feeBps = feeBps;
  }
  const minQueryPrice = call.optionalAmount('min_query_price_lamports');
  if (minQueryPrice !== null) {
    protocol.minQueryPrice = minQueryPrice;
  }
  const paused = call.args['paused'];
  if (typeof paused === 'boolean') {
    protocol.paused = paused;
  }
  return checkFee(feeBps) ?? (minQueryPrice === null ? null : checkPriceFloor(minQueryPrice));
}
