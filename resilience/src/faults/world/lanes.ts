import type { Fate, Step, StepObserver } from '../proxies/step.js';

export interface StepOfRun {
  readonly at: Step['at'];
  readonly name: string;
  /** The number of the step among the run's steps of the same name, from 1. */
  readonly occurrence: number;
}

export interface PlannedFault {
  readonly step: StepOfRun;
  /** `hold_next`: the step and its answer pass, and all later steps of the run are held. */
  readonly fate: Exclude<Fate, 'pass'> | 'hold_next';
}

/** The moment at which a lane counts as reached, for each fate of its step. */
const REACHED: Record<Exclude<Fate, 'pass'>, 'as_it_comes' | 'when_done'> = {
  hold: 'as_it_comes',
  cut: 'as_it_comes',
  refuse: 'as_it_comes',
  hold_answer: 'when_done',
  cut_answer: 'when_done',
};

/**
 * One active run of one listing. A step belongs to it if it contains one of its tokens: the wallet, the listing, their addresses
 * or the run's id.
 */
export class Lane {
  readonly #tokens: Buffer[];
  readonly learns: (step: Step) => readonly string[];
  readonly #seen = new Map<string, number>();
  readonly steps: StepOfRun[] = [];
  #fault: PlannedFault | undefined;
  #isFrozen = false;
  #isAnswered = false;
  #resolveReached: () => void = () => undefined;
  /** Resolves when the planned fault has happened. */
  readonly reached: Promise<void>;
  isReached = false;

  /** @param learns finds further tokens in a step of this lane */
  constructor(tokens: readonly string[], fault?: PlannedFault, learns: Lane['learns'] = () => []) {
    this.learns = learns;
    this.#tokens = tokens.map((token) => Buffer.from(token));
    this.#fault = fault;
    this.reached = new Promise((resolve) => (this.#resolveReached = resolve));
  }

  learn(step: Step): void {
    for (const text of this.learns(step)) this.#tokens.push(Buffer.from(text));
  }

  owns(step: Step): boolean {
    return this.#tokens.some((token) => step.holds(token));
  }

  /** Adds a run's id to the tokens, as text and as the bytes in a transaction. */
  follow(runId: string): void {
    this.#tokens.push(Buffer.from(runId), Buffer.from(runId.replaceAll('-', ''), 'hex'));
  }

  /** @param name the step's name. For the end of a transaction it includes the transaction's first statement. */
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
    this.#isFrozen = fault.fate === 'hold_next';
    if (fault.fate === 'hold_next') return 'pass';
    if (REACHED[fault.fate] === 'as_it_comes') this.reach();
    return fault.fate;
  }

  reach(): void {
    this.isReached = true;
    this.#resolveReached();
  }

  /** Notes that the caller has its answer. A run without further steps then counts as held. */
  answered(): void {
    this.#isAnswered = true;
    if (this.#isFrozen) this.reach();
  }

  /** Notes that the run has sent no statement and no call for a while, for instance because its agent works. */
  waited(): void {
    if (this.#isFrozen) this.reach();
  }

  done(fate: Fate): void {
    if (fate !== 'pass' && REACHED[fate] === 'when_done') this.reach();
    if (this.#isFrozen && this.#isAnswered) this.reach();
  }
}

const STARTS_RUN = /\bstart_runs\(/;
/** The statement's third value: the runs that start together, as an array literal. */
const RUNS_PLACE = 2;
const RUN_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Adds the ids of started runs to their lane. Some steps have no other token. */
function followStarted(lane: Lane, { name, parameters }: Step): void {
  const runIds = parameters[RUNS_PLACE]?.match(RUN_ID) ?? [];
  if (runIds.length === 0) throw new Error(`No run id among the values of ${name}`);
  for (const runId of runIds) lane.follow(runId);
}

/** Holds the server's background work: the indexer and the checks of open charges and payments. */
export function holdBackground({ at, name }: Step): Fate | undefined {
  const isBackground =
    at === 'chain'
      ? name === 'getSignaturesForAddress'
      : /^update "(charges|payments)" set "next_attempt_at" = now\(\) \+/.test(name);
  return isBackground ? 'hold' : undefined;
}

/** Finds each step's lane, and passes steps without a lane. */
export class Lanes implements StepObserver {
  #lanes: Lane[] = [];
  /** The lanes of open transactions, by connection. */
  readonly #transactions = new WeakMap<object, { lane: Lane; first: string }>();
  /** Decides the fate of a step before its lane does. undefined: the lane decides. */
  always: (step: Step) => Fate | undefined = () => undefined;
  onNotice: NonNullable<StepObserver['onNotice']> = () => undefined;

  use(lanes: readonly Lane[]): void {
    this.#lanes = [...lanes];
  }

  /** Does work with these lanes, while background work is held. */
  async during<T>(lanes: readonly Lane[], work: () => Promise<T>): Promise<T> {
    this.use(lanes);
    this.always = holdBackground;
    const result = await work();
    this.use([]);
    this.always = () => undefined;
    return result;
  }

  onStep(step: Step): Fate {
    const always = this.always(step);
    if (always !== undefined) return always;
    const lane = this.#laneOf(step);
    if (!lane) return 'pass';
    lane.learn(step);
    if (STARTS_RUN.test(step.name)) followStarted(lane, step);
    if (!step.endsTransaction) return lane.fateOf(step);
    return lane.fateOf(step, `${step.name} of ${this.#transactions.get(step.connection)?.first ?? ''}`);
  }

  onDone(step: Step, fate: Fate): void {
    this.#laneOf(step)?.done(fate);
    if (step.endsTransaction) this.#transactions.delete(step.connection);
  }

  /** The lane of a step. A step of several lanes, such as a batch, has none. */
  #laneOf(step: Step): Lane | undefined {
    if (step.endsTransaction) return this.#transactions.get(step.connection)?.lane;
    const owners = this.#lanes.filter((lane) => lane.owns(step));
    const [lane] = owners;
    if (lane === undefined || owners.length > 1) return undefined;
    const open = this.#transactions.get(step.connection);
    if (step.inTransaction && open?.lane !== lane) {
      this.#transactions.set(step.connection, { lane, first: step.name });
    }
    return lane;
  }
}
