import { agreedPriceOf, factsOf, heldFor, isTombstone } from './account-fields.js';
import type { Chain, ChainAccount } from '../world/chain.js';
import { ListingHistory } from './listing-history.js';
import type { Verdict } from '../model/errors.js';
import { chargesIn, instructionRule, type InstructionName, type Meta } from '../model/instruction-table.js';
import type { Prediction } from '../model/predict.js';
import type { Gift } from '../world/operations.js';
import type { AddressId, Universe } from '../world/universe.js';

/** The fields of a prediction that the laws use. */
type Used = 'name' | 'args' | 'verdict' | 'draft';

type Accounts = ReadonlyMap<AddressId, ChainAccount | null>;

/** An instruction, and its writable accounts on the chain before it. */
interface Attempt {
  name: InstructionName;
  args: Prediction['args'];
  metas: readonly Meta[];
  /** Unix seconds. */
  now: bigint;
  /** Empty for an instruction that will be refused. */
  was: Accounts;
}

/** The accounts that may gain lamports by an instruction, by name. */
const GAINERS: Partial<Record<InstructionName, string>> = {
  initialize_protocol: 'protocol',
  create_listing: 'listing escrow',
  purchase_one_time: 'escrow access_credential treasury',
  purchase_subscription: 'escrow access_credential treasury',
  purchase_per_query: 'access_credential per_query_balance',
  renew_subscription: 'escrow treasury',
  topup_balance: 'per_query_balance',
  fund_balance: 'access_credential per_query_balance',
  consume_query: 'escrow treasury',
  consume_queries: 'escrow treasury',
  revoke_per_query_access: 'buyer',
  withdraw_earnings: 'creator',
};

/**
 * The laws that do not depend on the model, checked on the chain's own bytes:
 * - Only gifts change an account's lamports above its fields (rent and gifts).
 * - No lamport is made or lost, and only parties gain lamports.
 * - Tombstones never change.
 * - A balance pays exactly the prices of its charges.
 * - A buyer may reclaim if the price is above the agreed one. A buyer may also reclaim if the listing was paused for 7 of the
 *   last 30 days, and hardly earlier. From a suspended listing a buyer may reclaim at any time.
 * - Only the admin's decision, or the end of a listing, changes whether it is suspended.
 */
export class InvariantChecker {
  readonly #universe: Universe;
  readonly #chain: Pick<Chain, 'account'>;
  readonly #histories = new Map<AddressId, ListingHistory>();

  constructor(universe: Universe, chain: Pick<Chain, 'account'>) {
    this.#universe = universe;
    this.#chain = chain;
  }

  /** Records the accounts of an instruction before it runs. @returns null when the data has no known instruction. */
  before(metas: readonly Meta[], prediction: Pick<Prediction, Used>): Attempt | null {
    const { name, args, verdict, draft } = prediction;
    const ids = verdict === null ? metas.filter(({ isWritable }) => isWritable).map(({ id }) => id) : [];
    const was = new Map([...new Set(ids)].map((id) => [id, this.#chain.account(id)]));
    return name === null ? null : { name, args, metas, now: draft.ledger.now, was };
  }

  /** Describes the broken law; null when all laws hold. */
  after(attempt: Attempt, found: Accounts, verdict: Verdict, gift?: Gift): string | null {
    const isReclaim = attempt.name === 'revoke_per_query_access';
    const broken = isReclaim ? this.#judgeReclaim(attempt, verdict) : null;
    if (broken !== null || verdict !== null) {
      return broken;
    }
    this.#notePauses(attempt, found);
    return (
      checkPrices(attempt, found) ??
      checkSuspensions(attempt, found) ??
      this.#checkMoney(attempt, found, gift) ??
      this.#checkTombstones(attempt, found)
    );
  }

  #account(attempt: Attempt, name: string): ChainAccount | null {
    return this.#chain.account(addressOf(attempt, name) ?? this.#universe.absent);
  }

  /** Records a successful instruction in the listing's history of pauses. */
  #notePauses(attempt: Attempt, found: Accounts): void {
    const { name, now, was } = attempt;
    const id = addressOf(attempt, 'listing') ?? this.#universe.absent;
    const facts = factsOf(found.get(id));
    if (facts !== null && name === 'create_listing') {
      this.#histories.set(id, new ListingHistory(facts, now));
    } else if (facts !== null && (name === 'update_listing' || name === 'moderate_listing')) {
      this.#histories.get(id)?.update(factsOf(was.get(id)) ?? facts, facts, now);
    }
  }

  /** Describes the law that a reclaim or its refusal breaks, or null. */
  #judgeReclaim(attempt: Attempt, verdict: Verdict): string | null {
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
    if (isRefused && (isTooDear || facts.isSuspended || isTombstone(listing))) {
      return `a reclaim was refused from a listing that is ${isTooDear ? 'too dear' : facts.isSuspended ? 'suspended' : 'closed'}`;
    }
    const history = this.#histories.get(addressOf(attempt, 'listing') ?? this.#universe.absent);
    return isTooDear || facts.isSuspended
      ? null
      : (history?.judgeReclaim(isReclaimed, facts, attempt.now) ?? null);
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
      // For the program's accounts, neither new nor closed, only their fields count, and gifts to a treasury.
      // The program makes no account at an address with a known key, so an account planted there counts as a wallet.
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
        return `${this.#universe.label(id)} is a tombstone and changed`;
      }
    }
    return null;
  }

  #isOurs(account: ChainAccount | null): account is ChainAccount {
    const program = this.#universe.key(this.#universe.program);
    return account !== null && Buffer.compare(account.owner, program) === 0;
  }
}

/** The address of an account by its name in the instruction. */
function addressOf({ name, metas }: Attempt, account: string): AddressId | undefined {
  return metas[instructionRule(name).accounts.findIndex((rule) => rule.name === account)]?.id;
}

/** Checks that a suspension begins and ends by the admin's decision, or ends with its listing. */
function checkSuspensions({ name, was }: Attempt, found: Accounts): string | null {
  if (name === 'moderate_listing' || name === 'close_listing') {
    return null;
  }
  for (const [id, before] of was) {
    const [old, present] = [factsOf(before), factsOf(found.get(id))];
    if (old !== null && present !== null && old.isSuspended !== present.isSuspended) {
      return `${name} ${old.isSuspended ? 'ended' : 'began'} a suspension`;
    }
  }
  return null;
}

/** Checks that each balance pays exactly the prices of its charges. */
function checkPrices(attempt: Attempt, found: Accounts): string | null {
  const { args, metas, name, was } = attempt;
  const behind = metas.slice(instructionRule(name).accounts.length);
  const prices = new Map<AddressId, bigint>();
  for (const [index, { price_lamports: price }] of chargesIn(args ?? {}).entries()) {
    const balance = addressOf(attempt, 'per_query_balance') ?? behind[2 * index + 1]?.id ?? -1;
    prices.set(balance, (prices.get(balance) ?? 0n) + price);
  }
  for (const [balance, named] of prices) {
    const [before, after] = [was.get(balance), found.get(balance)];
    const taken = before && after ? heldFor(before) - heldFor(after) : named;
    if (taken !== named) {
      return `${taken} lamports were charged for a price of ${named}`;
    }
  }
  return null;
}
