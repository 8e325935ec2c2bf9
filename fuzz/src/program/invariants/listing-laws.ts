import { agreedPriceOf, factsOf, isTombstone } from './account-fields.js';
import type { Chain, ChainAccount } from '../world/chain.js';
import { addressOf, type Attempt } from './attempt.js';
import { ListingHistory } from './listing-history.js';
import type { Verdict } from '../model/errors.js';
import type { AddressId } from '../world/universe.js';

/** The law about pauses of listings, checked on the chain's own bytes against all that ever happened. */
export class ListingLaws {
  readonly #chain: Pick<Chain, 'account'>;
  readonly #histories = new Map<AddressId | undefined, ListingHistory>();

  constructor(chain: Pick<Chain, 'account'>) {
    this.#chain = chain;
  }

  #account(attempt: Attempt, name: string): ChainAccount | null {
    const id = addressOf(attempt, name);
    return id === undefined ? null : this.#chain.account(id);
  }

  /** Takes in what a successful instruction did to a listing's pauses. */
  note(attempt: Attempt, found: ReadonlyMap<AddressId, ChainAccount | null>): void {
    const { name, now, was } = attempt;
    const id = addressOf(attempt, 'listing');
    const facts = id === undefined ? null : factsOf(found.get(id));
    if (id !== undefined && facts !== null && name === 'create_listing') {
      this.#histories.set(id, new ListingHistory(facts, now));
    } else if (id !== undefined && facts !== null && name === 'update_listing') {
      this.#histories.get(id)?.update(factsOf(was.get(id)) ?? facts, facts, now);
    }
  }

  /** What law a reclaim or its refusal breaks, in words; null when none. */
  judgeReclaim(attempt: Attempt, verdict: Verdict): string | null {
    const isBuyers = addressOf(attempt, 'revoker') === addressOf(attempt, 'buyer');
    const isRefused = verdict === 'Unauthorized' && isBuyers;
    const listing = this.#account(attempt, 'listing');
    const credential = this.#account(attempt, 'access_credential');
    const facts = factsOf(listing);
    const isReclaimed = verdict === null && credential !== null && !isTombstone(credential);
    if (listing === null || credential === null || facts === null || (!isRefused && !isReclaimed)) {
      return null;
    }
    const agreed = agreedPriceOf(this.#account(attempt, 'per_query_balance'));
    const isTooDear = agreed !== null && facts.price > agreed;
    if (isRefused && (isTooDear || isTombstone(listing))) {
      return `a reclaim was refused from a listing that is ${isTooDear ? 'too dear' : 'closed'}`;
    }
    const history = this.#histories.get(addressOf(attempt, 'listing'));
    return isTooDear ? null : (history?.judgeReclaim(isReclaimed, facts, attempt.now) ?? null);
  }
}
