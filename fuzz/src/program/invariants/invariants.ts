import { heldFor, isTombstone } from './account-fields.js';
import { addressOf, pricesOf, type Attempt } from './attempt.js';
import type { Chain, ChainAccount } from '../world/chain.js';
import { ListingLaws } from './listing-laws.js';
import type { Meta } from '../model/instruction-table.js';
import type { Verdict } from '../model/errors.js';
import type { InstructionName } from '../model/instruction-table.js';
import type { Prediction } from '../model/predict.js';
import type { Gift } from '../world/operations.js';
import type { AddressId, Universe } from '../world/universe.js';

/** What is looked at of a prediction. */
type Looked = 'name' | 'args' | 'verdict' | 'draft';

type Accounts = ReadonlyMap<AddressId, ChainAccount | null>;

/** Who may have more lamports after an instruction than before, by the names of its accounts. */
const GAINERS: Partial<Record<InstructionName, string>> = {
  initialize_protocol: 'protocol',
  create_listing: 'listing escrow',
  purchase_one_time: 'escrow access_credential treasury',
  purchase_subscription: 'escrow access_credential treasury',
  purchase_per_query: 'access_credential per_query_balance',
  renew_subscription: 'escrow treasury',
  topup_balance: 'per_query_balance',
  consume_query: 'escrow treasury',
  consume_queries: 'escrow treasury',
  revoke_per_query_access: 'buyer',
  withdraw_earnings: 'creator',
};

/**
 * The laws that hold whatever the model says, checked on the chain's own bytes:
 * - what an account of the program holds above its fields (rent and gifts) changes by gifts alone,
 * - no lamport is made or lost, and no wallet gains that is no party,
 * - tombstones never change,
 * - what is charged of a balance is the sum of the prices that its charges name,
 * - a buyer may reclaim whenever the price is above the agreed one or the listing was paused for 7 of the last 30 days,
 *   and hardly earlier.
 */
export class InvariantChecker {
  readonly #universe: Universe;
  readonly #chain: Pick<Chain, 'account'>;
  readonly #listings: ListingLaws;

  constructor(universe: Universe, chain: Pick<Chain, 'account'>) {
    this.#universe = universe;
    this.#chain = chain;
    this.#listings = new ListingLaws(chain);
  }

  /** Looks at the accounts of an instruction before it runs; null where no instruction is named. */
  before(metas: readonly Meta[], prediction: Pick<Prediction, Looked>): Attempt | null {
    const { name, args, verdict, draft } = prediction;
    const ids = verdict === null ? metas.filter(({ isWritable }) => isWritable).map(({ id }) => id) : [];
    const was = new Map([...new Set(ids)].map((id) => [id, this.#chain.account(id)]));
    return name === null ? null : { name, args, metas, now: draft.ledger.now, was };
  }

  /** What law is broken, in words; null when all hold. */
  after(attempt: Attempt, found: Accounts, verdict: Verdict, gift?: Gift): string | null {
    const isReclaim = attempt.name === 'revoke_per_query_access';
    const broken = isReclaim ? this.#listings.judgeReclaim(attempt, verdict) : null;
    if (broken !== null || verdict !== null) {
      return broken;
    }
    this.#listings.note(attempt, found);
    return (
      checkPrices(attempt, found) ??
      this.#checkMoney(attempt, found, gift) ??
      this.#checkTombstones(attempt, found)
    );
  }

  #checkMoney(attempt: Attempt, found: Accounts, gift: Gift | undefined): string | null {
    const gainers = (GAINERS[attempt.name] ?? '').split(' ').map((gainer) => addressOf(attempt, gainer));
    const treasury = addressOf(attempt, 'treasury');
    let total = 0n;
    for (const [id, was] of attempt.was) {
      const is = found.get(id) ?? null;
      const given = gift?.to === id ? gift.lamports : 0n;
      const gain = (is?.lamports ?? 0n) - (was?.lamports ?? 0n) - given;
      total += gain;
      if (gain > 0n && !gainers.includes(id)) {
        return `${this.#universe.label(id)} gained ${gain} lamports and is no party`;
      }
      // Of two accounts of the program neither new nor closed, only the fields and gifts to a treasury count.
      // The program makes none at an address with a known key: one planted there is paid as any wallet.
      const isOurs = this.#isOurs(was) && this.#isOurs(is) && !this.#universe.canSign(id);
      const moved = isOurs ? heldFor(is) - heldFor(was) : gain;
      if (id !== treasury && moved !== gain) {
        return `${this.#universe.label(id)}: its field moved by ${moved}, its lamports by ${gain}`;
      }
    }
    return total === 0n ? null : `${total} lamports came out of nothing`;
  }

  #checkTombstones(attempt: Attempt, found: Accounts): string | null {
    for (const [id, was] of attempt.was) {
      const is = found.get(id) ?? null;
      const isSame = this.#isOurs(is) && was !== null && Buffer.compare(was.data, is.data) === 0;
      if (this.#isOurs(was) && isTombstone(was) && !isSame) {
        return `${this.#universe.label(id)} was over and changed`;
      }
    }
    return null;
  }

  #isOurs(account: ChainAccount | null): account is ChainAccount {
    const program = this.#universe.key(this.#universe.program);
    return account !== null && Buffer.compare(account.owner, program) === 0;
  }
}

/** Each balance pays the prices of its charges, and nothing else. */
function checkPrices(attempt: Attempt, found: Accounts): string | null {
  for (const [balance, prices] of pricesOf(attempt)) {
    const [was, is] = [attempt.was.get(balance), found.get(balance)];
    const taken = was && is ? heldFor(was) - heldFor(is) : prices;
    if (taken !== prices) {
      return `${taken} lamports were charged for a price of ${prices}`;
    }
  }
  return null;
}
