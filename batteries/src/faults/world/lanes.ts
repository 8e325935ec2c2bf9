import type { Fate, Step, StepObserver } from '../proxies/step.js';

/** A step of a run, as it was recorded or is to be disturbed. */
export interface StepOfRun {
  readonly at: Step['at'];
  readonly name: string;
  /** The first of its name is 1. */
  readonly occurrence: number;
}

/** A fault that is planned for one step of one run. */
export interface PlannedFault {
  readonly step: StepOfRun;
  /** `hold_next`: the step passes, its answer reaches the server, and whatever the run asks then is held. */
  readonly fate: Exclude<Fate, 'pass'> | 'hold_next';
}

/**
 * What belongs together: one listing with the one run of it that is under way. Its steps are known by what they hold: the
 * wallet, the listing, the addresses of both, the run's id.
 */
export class Lane {
  readonly #tokens: Buffer[];
  readonly #learns: (step: Step) => readonly string[];
  readonly #seen = new Map<string, number>();
  readonly steps: StepOfRun[] = [];
  #fault: PlannedFault | undefined;
  #isFrozen = false;
  #isAnswered = false;
  #resolveReached: () => void = () => undefined;
  /** Resolves when the planned fault has happened. */
  readonly reached: Promise<void>;
  isReached = false;

  /** @param learns texts by which later steps are known, of one that belongs here */
  constructor(
    tokens: readonly string[],
    fault?: PlannedFault,
    learns: (step: Step) => readonly string[] = () => [],
  ) {
    this.#learns = learns;
    this.#tokens = tokens.map((token) => Buffer.from(token));
    this.#fault = fault;
    this.reached = new Promise((resolve) => (this.#resolveReached = resolve));
  }

  learn(step: Step): void {
    for (const text of this.#learns(step)) this.#tokens.push(Buffer.from(text));
  }

  owns(step: Step): boolean {
    return this.#tokens.some((token) => step.holds(token));
  }

  /** Steps that name the run by its id belong here from now on, and transactions that carry it. */
  follow(runId: string): void {
    this.#tokens.push(Buffer.from(runId), Buffer.from(runId.replaceAll('-', ''), 'hex'));
  }

  /** @param name the step's, and for the end of a transaction also what the transaction did first. */
  fateOf(step: Step, name = step.name): Fate {
    const key = `${step.at} ${name}`;
    const occurrence = (this.#seen.get(key) ?? 0) + 1;
    this.#seen.set(key, occurrence);
    this.steps.push({ at: step.at, name, occurrence });
    if (this.#isFrozen) {
      this.reach();
      return 'hold';
    }
    const fault = this.#fault;
    if (!fault || fault.step.at !== step.at || fault.step.name !== name) return 'pass';
    if (fault.step.occurrence !== occurrence) return 'pass';
    this.#fault = undefined;
    switch (fault.fate) {
      case 'hold_next':
        this.#isFrozen = true;
        return 'pass';
      case 'hold_answer':
      case 'cut_answer':
        return fault.fate;
      case 'hold':
      case 'cut':
      case 'refuse':
        this.reach();
        return fault.fate;
      default:
        return fault.fate satisfies never;
    }
  }

  reach(): void {
    this.isReached = true;
    this.#resolveReached();
  }

  /** The caller has its answer: after the last step of a run there is none left to hold. */
  answered(): void {
    this.#isAnswered = true;
    if (this.#isFrozen) this.reach();
  }

  /** The run has sent no statement and no call for a while, for instance because its agent works: it has passed the step. */
  waited(): void {
    if (this.#isFrozen) this.reach();
  }

  /** A step was carried out. */
  done(fate: Fate): void {
    if (fate === 'hold_answer' || fate === 'cut_answer') this.reach();
    if (this.#isFrozen && this.#isAnswered) this.reach();
  }
}

const BEGINS_RUN = /\bstart_runs\(/;
/** Runs that begin together, as an array literal: the third value of the statement. */
const RUNS_PLACE = 2;
const RUN_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A lane without its run's id would miss the steps that name the run alone. */
function followBegun(lane: Lane, { name, parameters }: Step): void {
  const runIds = parameters[RUNS_PLACE]?.match(RUN_ID) ?? [];
  if (runIds.length === 0) throw new Error(`No run id among the values of ${name}`);
  for (const runId of runIds) lane.follow(runId);
}

/** Tells each step's lane, and lets all other steps pass. */
export class Lanes implements StepObserver {
  #lanes: Lane[] = [];
  /** The lanes of transactions that are under way, by their connection. */
  readonly #transactions = new WeakMap<object, { lane: Lane; first: string }>();
  /** What happens to a step, of any lane or none; undefined: what its lane says. */
  always: (step: Step) => Fate | undefined = () => undefined;
  /** Is told each notice of the database. */
  onNotice: NonNullable<StepObserver['onNotice']> = () => undefined;

  use(lanes: readonly Lane[]): void {
    this.#lanes = [...lanes];
  }

  onStep(step: Step): Fate {
    const always = this.always(step);
    if (always !== undefined) return always;
    const lane = this.#laneOf(step);
    if (!lane) return 'pass';
    lane.learn(step);
    if (BEGINS_RUN.test(step.name)) followBegun(lane, step);
    if (!step.endsTransaction) return lane.fateOf(step);
    return lane.fateOf(step, `${step.name} of ${this.#transactions.get(step.connection)?.first ?? ''}`);
  }

  onDone(step: Step, fate: Fate): void {
    this.#laneOf(step)?.done(fate);
    if (step.endsTransaction) this.#transactions.delete(step.connection);
  }

  /** A step of several lanes, such as a batch, is none of one lane alone. */
  #laneOf(step: Step): Lane | undefined {
    if (step.endsTransaction) return this.#transactions.get(step.connection)?.lane;
    const owners = this.#lanes.filter((lane) => lane.owns(step));
    const [lane] = owners;
    if (lane === undefined || owners.length > 1) return undefined;
    const began = this.#transactions.get(step.connection);
    if (step.inTransaction && began?.lane !== lane) {
      this.#transactions.set(step.connection, { lane, first: step.name });
    }
    return lane;
  }
}
