import bs58 from 'bs58';
import { ABSENT_ACCOUNT, addressKey, type AddressedAccount } from '../ledger/account-state.js';
import type { ChainMoment } from '../ledger/chain-clock.js';
import type { Ledger, LedgerListener } from '../ledger/ledger.js';
import { addressesOf, type LandedTransaction } from '../ledger/transactions/transaction-history.js';
import { accountJson } from '../rpc/views/account-view.js';
import type { Json } from '../rpc/json.js';
import { withContext, type Commitment } from '../rpc/params.js';
import { matchesFilters } from '../rpc/views/program-filters.js';
import { EVERYTHING, type Topic, type TopicKind } from './topics.js';

export interface Subscription {
  topic: Topic;
  /** @param last no further notification follows: the subscription has ended by itself. */
  notify: (result: Json, last: boolean) => void;
}

/** The subscriptions and their notifications: one when a change is confirmed, or one when it is finalized. */
export class Subscriptions implements LedgerListener {
  readonly #ledger: Ledger;
  /** By kind, then by address or signature. */
  readonly #byKind = new Map<TopicKind, Map<string, Set<Subscription>>>();
  #lastRootSlot: number;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#lastRootSlot = ledger.now().rootSlot;
  }

  add(subscription: Subscription): void {
    const { topic } = subscription;
    const byKey = this.#byKind.get(topic.kind) ?? new Map<string, Set<Subscription>>();
    this.#byKind.set(topic.kind, byKey);
    const subscriptions = byKey.get(topic.key) ?? new Set<Subscription>();
    byKey.set(topic.key, subscriptions);
    subscriptions.add(subscription);
    if (topic.kind === 'signature') this.#tellIfLanded(subscription, topic);
  }

  remove(subscription: Subscription): void {
    const { kind, key } = subscription.topic;
    const subscriptions = this.#byKind.get(kind)?.get(key);
    subscriptions?.delete(subscription);
    if (subscriptions?.size === 0) this.#byKind.get(kind)?.delete(key);
  }

  committed(landed: LandedTransaction): void {
    this.#tellTransaction(landed, false);
  }

  finalized(numbers: readonly number[]): void {
    if (![...this.#byKind.values()].some((byKey) => byKey.size > 0)) return;
    for (const number of numbers) {
      const landed = this.#ledger.history.get(number);
      if (landed !== null) this.#tellTransaction(landed, true);
    }
  }

  restored(accounts: readonly AddressedAccount[], moment: ChainMoment): void {
    for (const account of accounts) this.#tellAccount(account, moment.slot, false);
  }

  slotChanged({ slot, rootSlot }: ChainMoment): void {
    for (const { notify } of this.#of('slot', EVERYTHING))
      notify({ parent: slot - 1, root: rootSlot, slot }, false);
    if (rootSlot === this.#lastRootSlot) return;
    this.#lastRootSlot = rootSlot;
    for (const { notify } of this.#of('root', EVERYTHING)) notify(rootSlot, false);
  }

  #tellTransaction(landed: LandedTransaction, finalized: boolean): void {
    const { slot, outcome } = landed;
    for (const subscription of this.#of('signature', addressKey(landed.signature))) {
      const { topic } = subscription;
      if (topic.kind === 'signature' && this.#isAtRoot(topic) === finalized)
        this.#tellSignature(subscription, landed);
    }
    const logs: Json = { signature: bs58.encode(landed.signature), err: outcome.err, logs: outcome.logs };
    for (const key of this.#logKeys(landed)) {
      for (const { topic, notify } of this.#of('logs', key)) {
        if (topic.kind === 'logs' && this.#isAtRoot(topic) === finalized)
          notify(withContext({ slot }, logs), false);
      }
    }
    for (const change of landed.changes) this.#tellAccount(change, slot, finalized);
  }

  #tellAccount({ address, account }: AddressedAccount, slot: number, finalized: boolean): void {
    const state = account ?? ABSENT_ACCOUNT;
    for (const { topic, notify } of this.#of('account', addressKey(address))) {
      if (topic.kind !== 'account' || this.#isAtRoot(topic) !== finalized) continue;
      notify(withContext({ slot }, accountJson(state, topic.view)), false);
    }
    for (const { topic, notify } of this.#of('program', addressKey(state.owner))) {
      if (topic.kind !== 'program' || this.#isAtRoot(topic) !== finalized) continue;
      if (!matchesFilters(state, topic.filters)) continue;
      const value = { pubkey: bs58.encode(address), account: accountJson(state, topic.view) };
      notify(withContext({ slot }, value), false);
    }
  }

  /** Whether a topic's changes are told once they are final. */
  #isAtRoot({ commitment }: { commitment: Commitment }): boolean {
    return (
      commitment === 'finalized' || (commitment === 'confirmed' && this.#ledger.consensus === 'alpenglow')
    );
  }

  /** The transaction may have been confirmed before anyone subscribed to it. */
  #tellIfLanded(subscription: Subscription, topic: Topic & { kind: 'signature' }): void {
    const landed = this.#ledger.history.find(topic.signature);
    if (landed === null) return;
    const { rootSlot } = this.#ledger.now();
    if (!this.#isAtRoot(topic) || landed.slot <= rootSlot) this.#tellSignature(subscription, landed);
  }

  #tellSignature(subscription: Subscription, { slot, outcome }: LandedTransaction): void {
    const { topic, notify } = subscription;
    if (topic.kind === 'signature' && topic.received)
      notify(withContext({ slot }, 'receivedSignature'), false);
    this.remove(subscription);
    notify(withContext({ slot }, { err: outcome.err }), true);
  }

  /** The keys of the log subscriptions that a transaction concerns. Listed only when there are any. */
  #logKeys(landed: LandedTransaction): string[] {
    return (this.#byKind.get('logs')?.size ?? 0) === 0
      ? []
      : [EVERYTHING, ...addressesOf(landed).map((address) => addressKey(address))];
  }

  /** A copy: a notification may remove a subscription. */
  #of(kind: TopicKind, key: string): Subscription[] {
    return [...(this.#byKind.get(kind)?.get(key) ?? [])];
  }
}
