import { agreedPriceOf, factsOf, heldFor, isTombstone } from './account-fields.js';
import type { Chain, ChainAccount, ChainOutcome } from '../world/chain.js';
import type { Snapshot } from './snapshot.js';
import { ListingHistory } from './listing-history.js';
import { CODE } from '../model/errors.js';
import { instructionRule, type InstructionName } from '../model/instruction-table.js';
import type { Prediction } from '../model/predict.js';
import type { AddressId, Universe } from '../world/universe.js';

/** The laws about prices and pauses of listings, checked on the chain's own bytes against all that ever happened. */
export class ListingLaws {
  readonly #universe: Universe;
  readonly #chain: Pick<Chain, 'account'>;
  readonly #histories = new Map<AddressId, ListingHistory>();

  constructor(universe: Universe, chain: Pick<Chain, 'account'>) {
    this.#universe = universe;
    this.#chain = chain;
  }

  #idOf(name: InstructionName, account: string, before: Snapshot): AddressId {
    const index = instructionRule(name).accounts.findIndex((rule) => rule.name === account);
    return before.metas[index]?.id ?? this.#universe.absent;
  }

  /** Takes in what a successful instruction did to a listing's price or pause. */
  note(
    name: InstructionName,
    before: Snapshot,
    { draft }: Prediction,
    found: ReadonlyMap<AddressId, ChainAccount | null>,
  ): void {
    const id = this.#idOf(name, 'listing', before);
    const facts = factsOf(found.get(id) ?? null);
    if (facts !== null && name === 'create_listing') {
      this.#histories.set(id, new ListingHistory(facts, draft.ledger.now));
    } else if (facts !== null && name === 'update_listing') {
      const was = factsOf(before.accounts[before.ids.indexOf(id)] ?? null);
      this.#histories.get(id)?.update(was ?? facts, facts, draft.ledger.now);
    }
  }

  /** What law a charge breaks, in words; null when none. */
  judgeCharge(before: Snapshot, { args, draft }: Prediction, { verdict }: ChainOutcome): string | null {
    const price = args?.['price_lamports'];
    if ((verdict !== null && verdict !== CODE.PriceChanged) || typeof price !== 'bigint') {
      return null;
    }
    const balance = this.#idOf('consume_query', 'per_query_balance', before);
    const was = before.accounts[before.ids.indexOf(balance)] ?? null;
    const is = verdict === null ? this.#chain.account(balance) : null;
    if (was !== null && is !== null && heldFor(was) - heldFor(is) !== price) {
      return `${heldFor(was) - heldFor(is)} lamports were charged for a price of ${price}`;
    }
    const listing = this.#idOf('consume_query', 'listing', before);
    const facts = factsOf(this.#chain.account(listing));
    const history = this.#histories.get(listing);
    return facts === null
      ? null
      : (history?.judgePrice(verdict === null, price, facts, draft.ledger.now) ?? null);
  }

  /** What law a reclaim or its refusal breaks, in words; null when none. */
  judgeReclaim(before: Snapshot, { draft }: Prediction, { verdict }: ChainOutcome): string | null {
    const at = (account: string): AddressId => this.#idOf('revoke_per_query_access', account, before);
    const isRefused = verdict === CODE.Unauthorized && at('revoker') === at('buyer');
    const [listing, credential] = [at('listing'), at('access_credential')].map((id) =>
      this.#chain.account(id),
    );
    const facts = factsOf(listing ?? null);
    if (!listing || !credential || facts === null) {
      return null;
    }
    const isReclaimed = verdict === null && !isTombstone(credential);
    if (!isRefused && !isReclaimed) {
      return null;
    }
    const agreed = agreedPriceOf(this.#chain.account(at('per_query_balance')));
    const isTooDear = agreed !== null && facts.price > agreed;
    if (isRefused && (isTooDear || isTombstone(listing))) {
      return `a reclaim was refused from a listing that is ${isTooDear ? 'too dear' : 'closed'}`;
    }
    const history = this.#histories.get(at('listing'));
    return isTooDear ? null : (history?.judgeReclaim(isReclaimed, facts, draft.ledger.now) ?? null);
  }
}
