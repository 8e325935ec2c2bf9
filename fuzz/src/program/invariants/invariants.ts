import { heldFor, isTombstone } from './account-fields.js';
import { attemptedCharges } from './attempted-charges.js';
import type { Chain, ChainAccount, ChainOutcome } from '../world/chain.js';
import { ListingLaws } from './listing-laws.js';
import { SequenceLaw } from './sequence-law.js';
import type { Snapshot } from './snapshot.js';
import type { Meta } from '../model/call.js';
import type { Verdict } from '../model/errors.js';
import { instructionRule, type InstructionName } from '../model/instruction-table.js';
import type { Prediction } from '../model/predict.js';
import type { Gift } from '../world/operations.js';
import type { AddressId, Universe } from '../world/universe.js';

/** Who may have more lamports after an instruction than before, by the names of its accounts. */
const GAINERS: Record<InstructionName, readonly string[]> = {
  initialize_protocol: ['protocol'],
  update_protocol: [],
  create_listing: ['listing', 'escrow'],
  update_listing: [],
  close_listing: [],
  purchase_one_time: ['escrow', 'access_credential', 'treasury'],
  purchase_subscription: ['escrow', 'access_credential', 'treasury'],
  purchase_per_query: ['access_credential', 'per_query_balance'],
  renew_subscription: ['escrow', 'treasury'],
  topup_balance: ['per_query_balance'],
  consume_query: ['escrow', 'treasury'],
  consume_queries: ['escrow', 'treasury'],
  revoke_access: [],
  revoke_per_query_access: ['buyer'],
  withdraw_earnings: ['creator'],
  verify_access: [],
};

/**
 * The laws that hold whatever the model says, checked on the chain's own bytes:
 * - what an account of the program holds above its fields (rent and gifts) changes by gifts alone,
 * - no lamport is made or lost, and no wallet gains that is no party,
 * - tombstones never change,
 * - a sequence is charged at most once, and never refused while the window still tells it apart,
 * - what is charged is the price that the charge names, which is the listing's or was it less than 15 minutes ago,
 * - a buyer may reclaim whenever the price is above the agreed one or the listing was paused for 7 of the last 30 days,
 *   and hardly earlier.
 */
export class InvariantChecker {
  readonly #universe: Universe;
  readonly #chain: Pick<Chain, 'account'>;
  readonly #sequences = new SequenceLaw();
  readonly #listings: ListingLaws;

  constructor(universe: Universe, chain: Pick<Chain, 'account'>) {
    this.#universe = universe;
    this.#chain = chain;
    this.#listings = new ListingLaws(universe, chain);
  }

  /** Looks at the accounts of an instruction before it runs; of one that will be refused nothing has to be known. */
  before(metas: readonly Meta[], verdict: Verdict): Snapshot {
    if (verdict !== null) {
      return { ids: [], metas, accounts: [] };
    }
    const ids = [...new Set(metas.filter(({ isWritable }) => isWritable).map(({ id }) => id))];
    return { ids, metas, accounts: ids.map((id) => this.#chain.account(id)) };
  }

  /** What law is broken, in words; null when all hold. */
  after(
    before: Snapshot,
    found: ReadonlyMap<AddressId, ChainAccount | null>,
    prediction: Prediction,
    outcome: ChainOutcome,
    gift?: Gift,
  ): string | null {
    const { name } = prediction;
    if (name === null) {
      return null;
    }
    const charges = attemptedCharges(before, prediction, outcome.verdict);
    const broken =
      this.#sequences.judge(charges, outcome.verdict) ??
      this.#listings.judgeCharges(before, charges, prediction, outcome) ??
      (name === 'revoke_per_query_access' ? this.#listings.judgeReclaim(before, prediction, outcome) : null);
    if (broken !== null || outcome.verdict !== null) {
      return broken;
    }
    const after = before.ids.map((id) => found.get(id) ?? null);
    this.#listings.note(name, before, prediction, found);
    return this.#checkMoney(name, before, after, gift) ?? this.#checkTombstones(before, after);
  }

  #idOf(name: InstructionName, account: string, metas: readonly Meta[]): AddressId | undefined {
    return metas[instructionRule(name).accounts.findIndex((rule) => rule.name === account)]?.id;
  }

  #checkMoney(
    name: InstructionName,
    before: Snapshot,
    after: readonly (ChainAccount | null)[],
    gift: Gift | undefined,
  ): string | null {
    const gainers = new Set(GAINERS[name].map((gainer) => this.#idOf(name, gainer, before.metas)));
    const treasury = this.#idOf(name, 'treasury', before.metas);
    let total = 0n;
    for (const [index, id] of before.ids.entries()) {
      const [was, is] = [before.accounts[index] ?? null, after[index] ?? null];
      const given = gift?.to === id ? gift.lamports : 0n;
      const gain = lamportsOf(is) - lamportsOf(was) - given;
      total += gain;
      if (gain > 0n && !gainers.has(id)) {
        return `${this.#universe.label(id)} gained ${gain} lamports and is no party`;
      }
      // Of two accounts of the program neither new nor closed, only the fields and gifts to a treasury count.
      // The program makes none at an address with a known key: one planted there is paid as any wallet.
      const isOurs = this.#isOurs(was) && this.#isOurs(is) && !this.#universe.canSign(id);
      if (isOurs && id !== treasury && heldFor(is) - heldFor(was) !== gain) {
        return `${this.#universe.label(id)}: its field moved by ${heldFor(is) - heldFor(was)}, its lamports by ${gain}`;
      }
    }
    return total === 0n ? null : `${total} lamports came out of nothing`;
  }

  #checkTombstones(before: Snapshot, after: readonly (ChainAccount | null)[]): string | null {
    for (const [index, id] of before.ids.entries()) {
      const was = before.accounts[index] ?? null;
      const is = after[index] ?? null;
      if (was !== null && this.#isOurs(was) && isTombstone(was)) {
        const isSame = is !== null && this.#isOurs(is) && Buffer.compare(was.data, is.data) === 0;
        if (!isSame) {
          return `${this.#universe.label(id)} was over and changed`;
        }
      }
    }
    return null;
  }

  #isOurs(account: ChainAccount | null): account is ChainAccount {
    const program = this.#universe.key(this.#universe.program);
    return account !== null && Buffer.compare(account.owner, program) === 0;
  }
}

function lamportsOf(account: ChainAccount | null): bigint {
  return account?.lamports ?? 0n;
}
