import { agreedPriceOf, factsOf, heldFor, isTombstone } from './account-fields.js';
import type { Chain, ChainAccount, ChainOutcome } from '../world/chain.js';
import type { AttemptedCharge } from './attempted-charges.js';
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

  /** What law the charges of an instruction break, in words; null when none. */
  judgeCharges(
    before: Snapshot,
    charges: readonly AttemptedCharge[],
    { name, draft }: Prediction,
    { verdict }: ChainOutcome,
  ): string | null {
    if (name === null || charges.length === 0) {
      return null;
    }
    const listing = this.#idOf(name, 'listing', before);
    const facts = factsOf(this.#chain.account(listing));
    const history = this.#histories.get(listing);
    for (const { price, refusal } of charges) {
      const isJudged = facts !== null && (refusal === null || refusal === CODE.PriceChanged);
      const wrong = isJudged ? history?.judgePrice(refusal === null, price, facts, draft.ledger.now) : null;
      if (wrong) {
        return wrong;
      }
    }
    return verdict === null ? this.#judgeTaken(before, charges) : null;
  }

  /** Each balance pays the prices of its charges, and nothing else. */
  #judgeTaken(before: Snapshot, charges: readonly AttemptedCharge[]): string | null {
    for (const balance of new Set(charges.map((charge) => charge.balance))) {
      const named = charges
        .filter((charge) => charge.balance === balance)
        .reduce((sum, { price }) => sum + price, 0n);
      const was = before.accounts[before.ids.indexOf(balance)] ?? null;
      const is = this.#chain.account(balance);
      if (was !== null && is !== null && heldFor(was) - heldFor(is) !== named) {
        return `${heldFor(was) - heldFor(is)} lamports were charged for a price of ${named}`;
      }
    }
    return null;
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
