import type { Chain, ChainAccount, ChainOutcome } from './chain.js';
import { InvariantChecker } from '../invariants/invariants.js';
import { Ledger, type Rent } from '../model/ledger.js';
import { U64_MAX } from '../model/money.js';
import { predict, type Prediction } from '../model/predict.js';
import { encodeAccountData, NO_DATA, type ModelAccount } from '../model/state.js';
import { tamper, type Operation } from './operations.js';
import type { AddressId, Universe } from './universe.js';
import { effectiveMetas } from './wire.js';

/** The program and the model differ, or an invariant is broken. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** The instruction and the result of one step, for statistics. */
export type StepReport = Pick<Prediction, 'name' | 'verdict' | 'way'>;

/** The rent of today's clusters. */
export const DEFAULT_RENT: Rent = { lamportsPerByte: 6_960n, threshold: 1 };

/** The clock of a new world, Unix seconds. */
export const GENESIS = 1_750_000_000n;

const WALLET_LAMPORTS = 10n ** 17n;
const FEE_PAYER_LAMPORTS = 10n ** 18n;
const PROGRAM_DATA_LAMPORTS = 10n ** 9n;

/** A chain and its model. Every step runs on both, and the results are compared. */
export class World {
  readonly ledger: Ledger;
  readonly universe: Universe;
  readonly #chain: Chain;
  readonly #invariants: InvariantChecker;
  /** The runtime's own accounts, which never change. The model copies them. */
  readonly #fixed: ReadonlySet<AddressId>;
  #feesPaid = 0n;

  /** Starts an empty world on a new or used chain. */
  constructor(chain: Chain) {
    const { universe } = chain;
    this.universe = universe;
    this.#chain = chain;
    this.ledger = new Ledger(universe, DEFAULT_RENT);
    this.#invariants = new InvariantChecker(universe, chain);
    this.#fixed = new Set(universe.reserved);
    for (const id of this.#ordinary()) {
      chain.setAccount(id, 0n, universe.systemProgram, NO_DATA.bytes);
    }
    this.step({ kind: 'clock', now: GENESIS });
    this.step({ kind: 'rent', ...DEFAULT_RENT });
    const programData = Buffer.alloc(45);
    programData[0] = 3;
    programData[12] = 1;
    programData.set(universe.key(universe.wallets.upgradeAuthority), 13);
    this.#plant(universe.programData, PROGRAM_DATA_LAMPORTS, universe.loader, programData);
    for (const wallet of universe.walletIds) {
      this.#plant(wallet, WALLET_LAMPORTS, universe.systemProgram, NO_DATA.bytes);
    }
    chain.setAccount(universe.feePayer, FEE_PAYER_LAMPORTS, universe.systemProgram, NO_DATA.bytes);
    for (const id of this.#fixed) {
      const found = chain.account(id);
      if (found !== null) {
        const owner = universe.find(found.owner) ?? universe.otherProgram;
        const data = { type: 'raw', bytes: Buffer.from(found.data) } as const;
        this.ledger.accounts.set(id, { lamports: found.lamports, owner, data });
      }
    }
  }

  /** Every address without an account of the runtime. */
  #ordinary(): AddressId[] {
    const { universe } = this;
    const builtIn = [...this.#fixed, universe.loader, universe.nativeLoader, universe.sysvarOwner];
    return [...universe.keys.keys()].filter((id) => !builtIn.includes(id));
  }

  #plant(id: AddressId, lamports: bigint, owner: AddressId, bytes: Buffer): void {
    this.#replace(id, { lamports, owner, data: { type: 'raw', bytes } });
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
   * @returns the instruction and its result; null for another step
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
        break;
      case 'rent':
        ledger.rent = { lamportsPerByte: operation.lamportsPerByte, threshold: operation.threshold };
        this.#chain.setRent(ledger.rent);
        break;
      case 'donate': {
        const account = ledger.get(operation.to);
        const lamports = account.lamports + operation.lamports;
        // An account near 2^64 lamports has no room for more.
        if (lamports <= U64_MAX) {
          this.#replace(operation.to, { ...account, lamports });
        }
        break;
      }
      case 'fund': {
        const account = ledger.get(operation.wallet);
        if (account.owner === this.universe.systemProgram) {
          this.#replace(operation.wallet, { ...account, lamports: operation.lamports });
        }
        break;
      }
      case 'plant':
        this.#plant(operation.at, operation.lamports, operation.owner, operation.bytes);
        break;
      default: {
        const account = ledger.get(operation.at);
        if (account.data.type !== 'raw' && operation.counter in account.data) {
          const data = { ...account.data, [operation.counter]: operation.value };
          this.#replace(operation.at, { ...account, data });
        }
      }
    }
    return null;
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
    const title = name ?? 'no instruction';
    const attempt = this.#invariants.before(effective, prediction);
    const outcome = this.#chain.send(data, metas, gift);
    this.#feesPaid += outcome.feeLamports;
    if (outcome.verdict !== verdict) {
      const [said, expected] = [outcome.verdict ?? 'success', verdict ?? 'success'];
      throw new Violation(`${title}: the program says ${said}, the model ${expected}`);
    }
    const after = new Map<AddressId, ChainAccount | null>();
    if (verdict === null) {
      compareSuccess(title, prediction, outcome);
      prediction.draft.commit();
      this.#feesPaid += gift?.lamports ?? 0n;
      const named = effective.map(({ id }) => id).filter((id) => !this.#fixed.has(id));
      for (const id of new Set([...(gift === undefined ? [] : [gift.to]), ...named])) {
        after.set(id, this.#compareAccount(id));
      }
    }
    const broken = attempt === null ? null : this.#invariants.after(attempt, after, verdict, gift);
    if (broken !== null) {
      throw new Violation(`${title}: ${broken}`);
    }
    return { name, verdict, way };
  }

  /** Compares the chain's account with the model's. @returns the chain's account */
  #compareAccount(id: AddressId): ChainAccount | null {
    const { universe } = this;
    const found = this.#chain.account(id);
    const expected = this.ledger.get(id);
    const lamports = found?.lamports ?? 0n;
    const label = universe.label(id);
    if (lamports !== expected.lamports) {
      throw new Violation(`${label} holds ${lamports} lamports, in the model ${expected.lamports}`);
    }
    if (found !== null && lamports > 0n) {
      if (Buffer.compare(found.owner, universe.key(expected.owner)) !== 0) {
        throw new Violation(`${label} does not belong to ${universe.label(expected.owner)}`);
      }
      const bytes = encodeAccountData(universe, id, expected);
      if (Buffer.compare(found.data, bytes) !== 0) {
        const hex = Buffer.from(found.data).toString('hex');
        throw new Violation(`${label} holds ${hex}, in the model ${bytes.toString('hex')}`);
      }
    }
    return found;
  }

  /** Compares every address of the universe, also the addresses that no instruction used. */
  compareAll(): void {
    const { feePayer } = this.universe;
    for (const id of this.#ordinary().filter((each) => each !== feePayer)) {
      this.#compareAccount(id);
    }
    const paid = FEE_PAYER_LAMPORTS - (this.#chain.account(feePayer)?.lamports ?? 0n);
    if (paid !== this.#feesPaid) {
      throw new Violation(`the fee payer has paid ${paid} lamports, not ${this.#feesPaid}`);
    }
  }
}

function compareSuccess(title: string, prediction: Prediction, outcome: ChainOutcome): void {
  const logged = outcome.events.map((event) => Buffer.from(event).toString('hex')).join();
  const right = prediction.events.map((event) => event.toString('hex')).join();
  if (logged !== right) {
    throw new Violation(`${title}: the program logs [${logged}], the model [${right}]`);
  }
  const returned = outcome.returned.join();
  const expected = prediction.returned === null ? '' : prediction.returned ? '1' : '0';
  if (returned !== expected) {
    throw new Violation(`${title}: the program returns [${returned}], the model [${expected}]`);
  }
}
