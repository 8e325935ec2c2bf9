import type { AttemptedCharge } from './attempted-charges.js';
import { ChargedSet } from '../model/charge-window.js';
import { CODE, type Verdict } from '../model/errors.js';
import type { AddressId } from '../world/universe.js';

/** A sequence is charged at most once, and never refused while the window still tells it apart. */
export class SequenceLaw {
  readonly #charged = new Map<AddressId, ChargedSet>();

  /** How the charges of an instruction that ended so break the law, in words; null when they do not. */
  judge(charges: readonly AttemptedCharge[], verdict: Verdict): string | null {
    const tried = new Map<AddressId, ChargedSet>();
    for (const { balance, sequence, refusal } of charges) {
      const charged = tried.get(balance) ?? this.#charged.get(balance) ?? new ChargedSet();
      const expected = charged.verdict(sequence);
      if (refusal === null) {
        if (expected !== null) {
          return `sequence ${sequence} was charged, and must not have been`;
        }
        // What a refused instruction took is given back.
        const noted = verdict === null || tried.has(balance) ? charged : charged.copy();
        noted.add(sequence);
        tried.set(balance, noted);
      }
      const isAboutSequence = refusal === CODE.RunAlreadyConsumed || refusal === CODE.SequenceTooFar;
      if (isAboutSequence && refusal !== expected) {
        return `sequence ${sequence} was refused, and must not have been`;
      }
    }
    if (verdict === null) {
      tried.forEach((charged, balance) => this.#charged.set(balance, charged));
    }
    return null;
  }
}
