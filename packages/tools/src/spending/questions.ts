/** The state of a question: `opened` by this call, `open` by another one, or answered. */
export type QuestionState = 'opened' | 'open' | 'yes' | 'no';

/** How long an answer holds for a repeated call. */
export const ANSWER_MS = 10 * 60_000;

/** Questions to a person, shared by all processes that spend for one wallet. */
export interface QuestionLedger {
  /**
   * Opens a question, unless it is open elsewhere or was answered within the last {@link ANSWER_MS}. A question whose
   * process is gone has lapsed and is opened again.
   */
  open(id: string): Promise<QuestionState>;
  /** Says that the process that opened a question still waits for its answer. */
  keep(id: string): Promise<void>;
  /**
   * Closes a question that this process opened: with its answer, or without one, so that it may be asked again.
   *
   * @returns false when the question has lapsed meanwhile, and the answer does not count.
   */
  close(id: string, answer: 'yes' | 'no' | undefined): Promise<boolean>;
}

/** Time between two looks at a question that another process asks. */
const LOOK_MS = 250;
/** Time between two signs that a question is still waited for. */
const KEEP_MS = 5_000;

/** Puts a question to a person. Anything but `true` is a no; a throw is no answer. */
export type Ask = (signal: AbortSignal) => unknown;

interface OpenQuestion {
  readonly answer: Promise<boolean>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Asks each question once: a call that repeats while the question is open waits for the same answer, in this process
 * or in another one with the same ledger.
 */
export class Questions {
  readonly #ledger: QuestionLedger;
  readonly #open = new Map<string, OpenQuestion>();

  constructor(ledger: QuestionLedger) {
    this.#ledger = ledger;
  }

  /**
   * Whether the answer to a question is yes.
   *
   * @param id the same id is the same question
   * @param ask used where the question is not open yet; its signal aborts once no caller waits any more
   * @throws what `ask` throws, or the signal's reason
   */
  async isApproved(id: string, ask: Ask, signal?: AbortSignal): Promise<boolean> {
    for (;;) {
      signal?.throwIfAborted();
      const known = this.#open.get(id);
      const question = known ?? this.#begin(id, ask);
      try {
        return await waitFor(question, signal);
      } catch (error) {
        signal?.throwIfAborted();
        // The caller whose question this was gave up, or had no person to ask: this one asks for itself.
        if (known === undefined) throw error;
      }
    }
  }

  #begin(id: string, ask: Ask): OpenQuestion {
    const controller = new AbortController();
    const answer = this.#decide(id, ask, controller.signal).finally(() => this.#open.delete(id));
    answer.catch(() => undefined);
    const question = { answer, controller, waiting: 0 };
    this.#open.set(id, question);
    return question;
  }

  async #decide(id: string, ask: Ask, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const state = await this.#ledger.open(id);
      switch (state) {
        case 'yes':
          return true;
        case 'no':
          return false;
        case 'opened':
          return this.#askOpened(id, ask, signal);
        case 'open':
          await pause(LOOK_MS, signal);
          break;
        default:
          return state satisfies never;
      }
    }
  }

  async #askOpened(id: string, ask: Ask, signal: AbortSignal): Promise<boolean> {
    const timer = setInterval(() => void this.#ledger.keep(id).catch(() => undefined), KEEP_MS);
    let answer: 'yes' | 'no' | undefined;
    let counts = false;
    try {
      // Only `true` is a yes: a caller without types may answer anything.
      answer = (await ask(signal)) === true ? 'yes' : 'no';
    } finally {
      clearInterval(timer);
      counts = await this.#ledger.close(id, answer);
    }
    return counts && answer === 'yes';
  }
}

/** Questions that end with the process. */
export function memoryQuestions(now: () => number = Date.now): QuestionLedger {
  const states = new Map<string, { state: 'open' | 'yes' | 'no'; timeMs: number }>();
  return {
    open: async (id) => {
      for (const [key, { state, timeMs }] of states) {
        if (state !== 'open' && timeMs + ANSWER_MS <= now()) states.delete(key);
      }
      const known = states.get(id);
      if (known !== undefined) return known.state;
      states.set(id, { state: 'open', timeMs: now() });
      return 'opened';
    },
    keep: async () => undefined,
    close: async (id, answer) => {
      if (answer === undefined) states.delete(id);
      else states.set(id, { state: answer, timeMs: now() });
      return true;
    },
  };
}

/** Waits for an answer as long as the caller does; a question without a waiting caller ends. */
async function waitFor(question: OpenQuestion, signal: AbortSignal | undefined): Promise<boolean> {
  question.waiting += 1;
  let leave = (): void => undefined;
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal?.reason);
  });
  signal?.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([question.answer, left]);
  } finally {
    signal?.removeEventListener('abort', leave);
    question.waiting -= 1;
    if (question.waiting === 0) question.controller.abort(signal?.reason);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const aborted = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', aborted);
      resolve();
    }, ms);
    signal.addEventListener('abort', aborted, { once: true });
  });
}
