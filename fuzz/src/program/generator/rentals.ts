import { type Values } from '../model/borsh.js';
import type { Meta } from '../model/call.js';
import { MODEL } from '../model/state.js';
import type { Random } from '@agent-rental/test/support/random';
import type { AddressId } from '../world/universe.js';
import type { Plan } from './plan.js';
import type { View } from './view.js';

/** An instruction that a party has reason to send: its accounts by name, those behind them, and its arguments. */
export interface Intention {
  accounts: Record<string, AddressId>;
  behind?: Meta[];
  tampered?: Plan['tampered'];
  args: Values;
}

/** Every account that instructions of a listing and a buyer name. */
export function accountsOf(view: View, listing: AddressId, buyer: AddressId): Record<string, AddressId> {
  const { universe, protocol } = view;
  return {
    protocol: universe.protocol,
    listing,
    escrow: view.escrowOf(listing),
    buyer,
    access_credential: view.credentialOf(buyer, listing),
    per_query_balance: view.balanceOf(buyer, listing),
    treasury: protocol?.treasury ?? universe.wallets.treasury,
    system_program: universe.systemProgram,
    creator: view.listing(listing)?.creator ?? universe.wallets.creator,
    admin: protocol?.admin ?? universe.wallets.admin,
    authority: protocol?.authority ?? universe.wallets.authority,
  };
}

/** One of the hot keys. */
export function hotKey(view: View, random: Random): AddressId {
  const { protocol, universe } = view;
  if (protocol === null) {
    return universe.wallets.authority;
  }
  const isRotating = protocol.nextAuthority !== universe.systemProgram;
  return random.chance(isRotating ? 40 : 3) ? protocol.nextAuthority : protocol.authority;
}

/** Whether a wallet has a credential of a listing that was not revoked. */
export function isRented(view: View, listing: AddressId): boolean {
  return view.universe.walletIds.some((wallet) => view.credential(wallet, listing)?.valid === true);
}

/** A Per-Task listing and a wallet that rents it. */
export function perQueryRental(
  view: View,
  random: Random,
  ...statuses: number[]
): { listing: AddressId; buyer: AddressId } {
  const listing = random.pick(
    view.listings(
      (state, id) =>
        state.model === MODEL.perQuery &&
        (random.chance(5) || (statuses.includes(state.status) && isRented(view, id))),
    ),
  );
  return { listing, buyer: random.pick(view.holders(listing, ({ valid }) => valid || random.chance(5))) };
}
