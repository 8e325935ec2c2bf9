import type { InstructionName } from '../model/instruction-table.js';
import { MODEL, STATUS, type CredentialState, type ListingState } from '../model/state.js';
import type { AddressId } from '../world/universe.js';
import type { View } from './view.js';

/** Whether an instruction has any chance to succeed in a world, as far as a glance tells. */
export function isPromising(name: InstructionName, view: View): boolean {
  switch (name) {
    case 'initialize_protocol':
      return view.protocol === null;
    case 'update_protocol':
    case 'verify_access':
      return true;
    case 'create_listing':
      return view.universe.listings.some((id) => view.listing(id) === null);
    case 'update_listing':
      return hasListing(view, ({ status }) => status !== STATUS.closed);
    case 'close_listing':
      return hasListing(
        view,
        ({ status, latestExpiry }, id) =>
          status !== STATUS.closed &&
          latestExpiry <= view.ledger.now &&
          (view.escrow(id)?.earnings ?? 0n) <= 1n,
      );
    case 'purchase_one_time':
      return hasSale(view, MODEL.oneTime);
    case 'purchase_subscription':
      return hasSale(view, MODEL.subscription);
    case 'purchase_per_query':
      return hasSale(view, MODEL.perQuery);
    case 'renew_subscription':
      return hasRental(view, isOnSale, isValid(MODEL.subscription));
    case 'topup_balance':
      return hasRental(view, isOnSale, isValid(MODEL.perQuery));
    case 'consume_query':
    case 'consume_queries':
      return hasRental(view, ({ status }) => status !== STATUS.closed, isValid(MODEL.perQuery));
    case 'revoke_access':
      return hasRental(
        view,
        () => true,
        ({ valid, model }) => valid && model !== MODEL.perQuery,
      );
    case 'revoke_per_query_access':
      return hasRental(view, () => true, isValid(MODEL.perQuery));
    default:
      // Withdrawing.
      return hasListing(view, (_, id) => (view.escrow(id)?.earnings ?? 0n) > 0n);
  }
}

type ListingTest = (listing: Readonly<ListingState>, id: AddressId) => boolean;
type CredentialTest = (credential: Readonly<CredentialState>) => boolean;

const isOnSale: ListingTest = ({ status }) => status === STATUS.active;

function isValid(model: number): CredentialTest {
  return (credential) => credential.valid && credential.model === model;
}

function hasListing(view: View, passes: ListingTest): boolean {
  return view.universe.listings.some((id) => {
    const listing = view.listing(id);
    return listing !== null && passes(listing, id);
  });
}

function hasSale(view: View, model: number): boolean {
  return hasListing(view, (listing, id) => isOnSale(listing, id) && listing.model === model);
}

function hasRental(view: View, ofListing: ListingTest, ofCredential: CredentialTest): boolean {
  return hasListing(
    view,
    (listing, id) =>
      ofListing(listing, id) &&
      view.universe.walletIds.some((wallet) => {
        const credential = view.credential(wallet, id);
        return credential !== null && ofCredential(credential);
      }),
  );
}
