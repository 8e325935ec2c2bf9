import type { AddressId } from '../../world/universe.js';
import type { Call, Rules } from '../call.js';
import { when, type Verdict } from '../errors.js';
import { createAccount, programRent } from '../lamports.js';
import { MAX_FEE_BPS, MAX_PRICE, MIN_PRICE } from '../money.js';
import { dataLength } from '../state.js';

const PROGRAM_DATA_TAG = 3;
const AUTHORITY_TAG_AT = 12;
const AUTHORITY_AT = 13;

/** Whether the signer has a role. A role of all zeros, the System program's address, means no wallet. */
function isNamed(call: Call, signer: AddressId, role: AddressId): boolean {
  return signer === role && signer !== call.universe.systemProgram;
}

/** Refuses a signer that is not a hot key. */
export function checkAuthority(call: Call): Verdict {
  const { authority, nextAuthority } = call.protocol;
  const signer = call.id('authority');
  return when(signer !== authority && !isNamed(call, signer, nextAuthority), 'Unauthorized');
}

function checkUpgradeAuthority(call: Call): Verdict {
  const { universe } = call;
  const id = call.id('program_data');
  const { owner, data } = call.draft.read(id);
  const bytes = data.type === 'raw' ? data.bytes : Buffer.alloc(0);
  const signer = universe.key(call.id('upgrade_authority'));
  const isProgramData = bytes.length >= AUTHORITY_AT + 32 && bytes.readUInt32LE() === PROGRAM_DATA_TAG;
  const isAuthority =
    bytes[AUTHORITY_TAG_AT] === 1 && bytes.subarray(AUTHORITY_AT, AUTHORITY_AT + 32).equals(signer);
  return (
    when(universe.provenance(id)?.kind !== 'program_data', 'ConstraintSeeds') ??
    when(owner !== universe.loader, 'AccountOwnedByWrongProgram') ??
    when(!isProgramData, 'AccountDidNotDeserialize') ??
    when(!isAuthority, 'Unauthorized')
  );
}

function checkFee(feeBps: number): Verdict {
  return when(feeBps > MAX_FEE_BPS, 'FeeTooHigh');
}

function checkPriceFloor(price: bigint): Verdict {
  return when(price < MIN_PRICE, 'PriceTooLow') ?? when(price > MAX_PRICE, 'ArithmeticOverflow');
}

/** Checks that the System program owns the treasury, and that it is rent-exempt, so that a fee always reaches it. */
function checkTreasury(call: Call, id: AddressId): Verdict {
  const account = call.draft.read(id);
  const rent = programRent(call, dataLength(account));
  return (
    when(account.owner !== call.universe.systemProgram, 'AccountNotSystemOwned') ??
    (typeof rent === 'bigint' ? when(account.lamports < rent, 'ConstraintRentExempt') : rent)
  );
}

/** The rules about the protocol. Only the upgrade authority creates it. The pending admin accepts by its signature. */
export const PROTOCOL_RULES: Rules<'initialize_protocol' | 'update_protocol'> = {
  initialize_protocol(call) {
    const minQueryPrice = call.arg<bigint>('min_query_price_lamports', 0n);
    const feeBps = call.arg<number>('fee_bps', 0);
    const treasury = call.id('treasury');
    const noWallet = call.universe.systemProgram;
    return (
      checkUpgradeAuthority(call) ??
      checkFee(feeBps) ??
      checkPriceFloor(minQueryPrice) ??
      checkTreasury(call, treasury) ??
      createAccount(call, call.id('upgrade_authority'), {
        type: 'protocol',
        admin: call.address('admin') ?? noWallet,
        pendingAdmin: noWallet,
        authority: call.address('authority') ?? noWallet,
        nextAuthority: noWallet,
        treasury,
        feeBps,
        minQueryPrice,
        paused: false,
      })
    );
  },

  update_protocol(call) {
    const { universe } = call;
    const before = call.protocol;
    const signer = call.id('admin');
    const treasury = call.id('new_treasury');
    const feeBps = call.arg<number | null>('fee_bps', null);
    const minQueryPrice = call.arg<bigint | null>('min_query_price_lamports', null);
    const isAccepted = signer !== before.admin;
    return (
      when(isAccepted && !isNamed(call, signer, before.pendingAdmin), 'Unauthorized') ??
      (treasury === universe.program ? null : checkTreasury(call, treasury)) ??
      call.change('protocol', {
        admin: signer,
        pendingAdmin:
          call.address('pending_admin') ?? (isAccepted ? universe.systemProgram : before.pendingAdmin),
        authority: call.address('authority') ?? before.authority,
        nextAuthority: call.address('next_authority') ?? before.nextAuthority,
        treasury: treasury === universe.program ? before.treasury : treasury,
        feeBps: feeBps ?? before.feeBps,
        minQueryPrice: minQueryPrice ?? before.minQueryPrice,
        paused: call.arg('paused', before.paused),
      }) ??
      (feeBps === null ? null : checkFee(feeBps)) ??
      (minQueryPrice === null ? null : checkPriceFloor(minQueryPrice))
    );
  },
};
