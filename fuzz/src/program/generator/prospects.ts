import type { InstructionName } from '../model/instruction-table.js';
import { MODEL, STATUS } from '../model/state.js';
import type { ListingTest, Scene } from './scene.js';

const isOnSale: ListingTest = ({ status }) => status === STATUS.active;

function hasSale(model: number): (scene: Scene) => boolean {
  return (scene) => scene.hasListing((listing, id) => isOnSale(listing, id) && listing.model === model);
}

function hasRental(isRight: ListingTest, ...models: number[]): (scene: Scene) => boolean {
  return (scene) =>
    scene.hasListing(
      (listing, id) =>
        isRight(listing, id) && scene.isRented(id, ({ valid, model }) => valid && models.includes(model)),
    );
}

const canBeClosed =
  (scene: Scene): ListingTest =>
  ({ status, latestExpiry }, id) =>
    status !== STATUS.closed && latestExpiry <= scene.ledger.now && (scene.escrow(id)?.earnings ?? 0n) <= 1n;

const hasCharges = hasRental(({ status }) => status !== STATUS.closed, MODEL.perQuery);

/** The weight of each instruction, and a quick test of its chance to succeed. */
const PROSPECTS: Record<InstructionName, readonly [weight: number, isPromising: (scene: Scene) => boolean]> =
  {
    initialize_protocol: [2, ({ protocol }) => protocol === null],
    update_protocol: [8, () => true],
    create_listing: [12, (scene) => scene.universe.listings.some((id) => scene.listing(id) === null)],
    update_listing: [10, (scene) => scene.hasListing(({ status }) => status !== STATUS.closed)],
    close_listing: [3, (scene) => scene.hasListing(canBeClosed(scene))],
    moderate_listing: [3, (scene) => scene.hasListing(({ status }) => status !== STATUS.closed)],
    purchase_one_time: [9, hasSale(MODEL.oneTime)],
    purchase_subscription: [9, hasSale(MODEL.subscription)],
    purchase_per_query: [10, hasSale(MODEL.perQuery)],
    renew_subscription: [9, hasRental(isOnSale, MODEL.subscription)],
    topup_balance: [10, hasRental(isOnSale, MODEL.perQuery)],
    fund_balance: [8, hasSale(MODEL.perQuery)],
    consume_query: [24, hasCharges],
    consume_queries: [18, hasCharges],
    revoke_access: [4, hasRental(() => true, MODEL.oneTime, MODEL.subscription)],
    revoke_per_query_access: [6, hasRental(() => true, MODEL.perQuery)],
    withdraw_earnings: [8, (scene) => scene.hasListing((_, id) => (scene.escrow(id)?.earnings ?? 0n) > 0n)],
    verify_access: [7, () => true],
  };

const WEIGHTS = Object.entries(PROSPECTS).map(
  ([name, [weight]]) => [name as InstructionName, weight] as const,
);

/** The share of hopeless instructions that are tried anyway, in per cent. */
const HOPELESS_PERCENT = 8;

/** Chooses the next instruction. */
export function chooseInstruction(scene: Scene): InstructionName {
  if (scene.protocol === null) {
    return scene.chance(50) ? 'initialize_protocol' : scene.weighted(WEIGHTS);
  }
  if (scene.protocol.paused && scene.chance(20)) {
    return 'update_protocol';
  }
  for (;;) {
    const name = scene.weighted(WEIGHTS);
    if (scene.chance(HOPELESS_PERCENT) || PROSPECTS[name][1](scene)) {
      return name;
    }
  }
}
