import type { Chain, ChainAccount, ChainOutcome } from './chain.js';
import { InvariantChecker } from '../invariants/invariants.js';
import { verdictName } from '../model/errors.js';
import type { InstructionName } from '../model/instruction-table.js';
import { Ledger, type Rent } from '../model/ledger.js';
import { U64_MAX } from '../model/money.js';
import { predict, type Prediction } from '../model/predict.js';
import { encodeAccountData, NO_DATA, type ModelAccount } from '../model/state.js';
import { tamper, type Operation } from './operations.js';
import type { AddressId, Universe } from './universe.js';
import { effectiveMetas } from './wire.js';

/** The program did not do what the model says, or an invariant is broken. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** What one step was, for statistics. */
export interface StepReport {
  name: InstructionName | null;
  verdict: Prediction['verdict'];
  way: Prediction['way'];
}

/** The rent of today's clusters. */
export const DEFAULT_RENT: Rent = { lamportsPerByte: 6_960n, threshold: 1 };

/** The clock of a new world, Unix seconds. */
export const GENESIS = 1_750_000_000n;

const WALLET_LAMPORTS = 10n ** 17n;
const FEE_PAYER_LAMPORTS = 10n ** 18n;
const PROGRAM_DATA_LAMPORTS = 10n ** 9n;

/** A chain and its model side by side: every step is taken on both and compared. */
export class World {
  readonly ledger: Ledger;
  readonly universe: Universe;
  readonly #chain: Chain;
  readonly #invariants: InvariantChecker;
  readonly #fixed: ReadonlySet<AddressId>;
  #feesPaid = 0n;

  /** Starts from nothing on a chain that may have been used before. */
  constructor(universe: Universe, chain: Chain) {
    this.universe = universe;
    this.#chain = chain;
    this.ledger = new Ledger(universe, DEFAULT_RENT);
    this.#invariants = new InvariantChecker(universe, chain);
    this.#fixed = new Set([
      universe.systemProgram,
      universe.program,
      universe.clockSysvar,
      universe.rentSysvar,
    ]);
    this.#begin();
  }

  #begin(): void {
    const { universe } = this;
    for (const id of universe.keys.keys()) {
      if (!this.#isBuiltIn(id)) {
        this.#chain.setAccount(id, 0n, universe.systemProgram, NO_DATA.bytes);
      }
    }
    this.ledger.now = GENESIS;
    this.#chain.setClock(GENESIS);
    this.#chain.setRent(DEFAULT_RENT);
    const programData = Buffer.alloc(45);
    programData[0] = 3;
    programData[12] = 1;
    programData.set(universe.key(universe.wallets.upgradeAuthority), 13);
    this.#plant(universe.programData, PROGRAM_DATA_LAMPORTS, universe.loader, programData);
    for (const wallet of universe.walletIds) {
      this.#plant(wallet, WALLET_LAMPORTS, universe.systemProgram, NO_DATA.bytes);
    }
    this.#chain.setAccount(universe.feePayer, FEE_PAYER_LAMPORTS, universe.systemProgram, NO_DATA.bytes);
    for (const id of this.#fixed) {
      const found = this.#chain.account(id);
      if (found !== null) {
        const owner = universe.find(found.owner) ?? universe.otherProgram;
        const data = { type: 'raw', bytes: Buffer.from(found.data) } as const;
        this.ledger.accounts.set(id, { lamports: found.lamports, owner, data });
      }
    }
  }

  #isBuiltIn(id: AddressId): boolean {
    const { universe } = this;
    return this.#fixed.has(id) || [universe.loader, universe.nativeLoader, universe.sysvarOwner].includes(id);
  }

  #plant(id: AddressId, lamports: bigint, owner: AddressId, bytes: Buffer): void {
    this.ledger.set(id, { lamports, owner, data: { type: 'raw', bytes } });
    this.#chain.setAccount(id, lamports, owner, bytes);
  }

  /** Replaces an account on both sides. */
  #replace(id: AddressId, account: ModelAccount): void {
    this.ledger.set(id, account);
    const bytes = encodeAccountData(this.universe, id, account);
    this.#chain.setAccount(id, account.lamports, account.owner, bytes);
  }

  /**
   * Takes one step.
   *
   * @returns what the instruction was and how it ended; null for a step that is none
   * @throws Violation when chain and model differ, or an invariant does not hold
   */
  step(operation: Operation): StepReport | null {
    const { ledger } = this;
    switch (operation.kind) {
      case 'instruction':
        return this.#instruction(operation);
      case 'clock':
        ledger.now = operation.now;
        this.#chain.setClock(operation.now);
        return null;
      case 'rent':
        ledger.rent = { lamportsPerByte: operation.lamportsPerByte, threshold: operation.threshold };
        this.#chain.setRent(ledger.rent);
        return null;
      case 'donate': {
        const account = ledger.get(operation.to);
        const lamports = account.lamports + operation.lamports;
        // What a wallet near 2^64 lamports deposited leaves no room for more.
        if (lamports <= U64_MAX) {
          this.#replace(operation.to, { ...account, lamports });
        }
        return null;
      }
      case 'fund': {
        const account = ledger.get(operation.wallet);
        if (account.owner === this.universe.systemProgram) {
          this.#replace(operation.wallet, { ...account, lamports: operation.lamports });
        }
        return null;
      }
      case 'plant':
        this.#plant(operation.at, operation.lamports, operation.owner, operation.bytes);
        return null;
      default: {
        const account = ledger.get(operation.at);
        if (account.data.type !== 'raw' && operation.counter in account.data) {
          this.#replace(operation.at, {
            ...account,
            data: { ...account.data, [operation.counter]: operation.value },
          });
        }
        return null;
      }
    }
  }

  #instruction(operation: Operation & { kind: 'instruction' }): StepReport {
    const { tampered } = operation;
    const original = tampered === undefined ? null : this.ledger.get(tampered.id);
    if (tampered === undefined || original === null || original.owner !== this.universe.program) {
      return this.#run(operation);
    }
    const right = encodeAccountData(this.universe, tampered.id, original);
    this.#plant(tampered.id, original.lamports, original.owner, tamper(right, tampered.how));
    const report = this.#run(operation);
    const { lamports } = this.ledger.get(tampered.id);
    this.#replace(tampered.id, { ...original, lamports });
    return report;
  }

  #run({ data, metas, gift }: Operation & { kind: 'instruction' }): StepReport {
    const effective = effectiveMetas(this.universe, metas, gift);
    const prediction = predict(this.ledger, data, effective, gift);
    const { name, verdict, way } = prediction;
    const before = this.#invariants.before(effective, verdict);
    const outcome = this.#chain.send(data, metas, gift);
    this.#feesPaid += outcome.feeLamports;
    if (outcome.verdict !== verdict) {
      throw new Violation(
        `${name ?? 'no instruction'}: the program says ${verdictName(outcome.verdict)}, ` +
          `the model ${verdictName(verdict)}`,
      );
    }
    const after = new Map<AddressId, ChainAccount | null>();
    if (verdict === null && name !== null) {
      this.#compareSuccess(name, prediction, outcome);
      prediction.draft.commit();
      if (gift !== undefined) {
        this.#feesPaid += gift.lamports;
        after.set(gift.to, this.#chain.account(gift.to));
      }
      for (const { id } of effective) {
        if (!after.has(id) && !this.#fixed.has(id)) {
          after.set(id, this.#chain.account(id));
        }
      }
      for (const [id, found] of after) {
        this.#compareAccount(id, found);
      }
    }
    const broken = this.#invariants.after(before, after, prediction, outcome, gift);
    if (broken !== null) {
      throw new Violation(`${name ?? 'no instruction'}: ${broken}`);
    }
    return { name, verdict, way };
  }

  #compareSuccess(name: InstructionName, prediction: Prediction, outcome: ChainOutcome): void {
    const found = outcome.events.map((event) => Buffer.from(event).toString('hex')).join();
    const right = prediction.events.map((event) => event.toString('hex')).join();
    if (found !== right) {
      throw new Violation(`${name}: the program logs [${found}], the model [${right}]`);
    }
    const expected = prediction.returned === null ? [] : [prediction.returned ? 1 : 0];
    if (outcome.returned.length !== expected.length || outcome.returned[0] !== expected[0]) {
      throw new Violation(
        `${name}: the program returns [${outcome.returned.join()}], the model [${expected.join()}]`,
      );
    }
  }

  #compareAccount(id: AddressId, found: ChainAccount | null): void {
    const { universe } = this;
    const expected = this.ledger.get(id);
    const lamports = found?.lamports ?? 0n;
    if (lamports !== expected.lamports) {
      throw new Violation(
        `${universe.label(id)} holds ${lamports} lamports, in the model ${expected.lamports}`,
      );
    }
    if (found === null || lamports === 0n) {
      return;
    }
    if (Buffer.compare(found.owner, universe.key(expected.owner)) !== 0) {
      throw new Violation(`${universe.label(id)} does not belong to ${universe.label(expected.owner)}`);
    }
    const bytes = encodeAccountData(universe, id, expected);
    if (Buffer.compare(found.data, bytes) !== 0) {
      throw new Violation(
        `${universe.label(id)} holds ${Buffer.from(found.data).toString('hex')}, in the model ${bytes.toString('hex')}`,
      );
    }
  }

  /** Compares every address of the universe; what no instruction named must not have changed either. */
  compareAll(): void {
    for (const id of this.universe.keys.keys()) {
      if (!this.#isBuiltIn(id) && id !== this.universe.feePayer) {
        this.#compareAccount(id, this.#chain.account(id));
      }
    }
    const left = this.#chain.account(this.universe.feePayer)?.lamports ?? 0n;
    if (left + this.#feesPaid !== FEE_PAYER_LAMPORTS) {
      throw new Violation(
        `the fee payer has paid ${FEE_PAYER_LAMPORTS - left} lamports, not ${this.#feesPaid}`,
      );
    }
  }
}
