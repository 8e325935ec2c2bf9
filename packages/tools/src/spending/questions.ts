/** The state of a question: `opened` by this call, `open` by another one, or answered. */
export type QuestionState = 'opened' | 'open' | 'yes' | 'no';

/** Validity of an answer for a repeated call. */
export const ANSWER_MS = 10 * 60_000;

/** Questions to a person, shared by all processes that spend for one wallet. */
export interface QuestionLedger {
  /**
   * Opens a question, unless it is open elsewhere or was answered within the last {@link ANSWER_MS}. A question lapses with
   * its process, and is opened again.
   */
  open(id: string): Promise<QuestionState>;
  /** Records that the asking process still waits for the answer. */
  keep(id: string): Promise<void>;
  /**
   * Closes a question of this process. Without an answer, it may be asked again.
   *
   * @returns false if the question has lapsed meanwhile; then the answer does not count.
   */
  close(id: string, answer: 'yes' | 'no' | undefined): Promise<boolean>;
}

/** Poll interval for a question of another process. */
const LOOK_MS = 250;
/** Interval of the asking process's signs of life. */
const KEEP_MS = 5_000;

/** Asks a person. Only `true` is a yes; an exception is no answer. */
export type Ask = (signal: AbortSignal) => unknown;

interface OpenQuestion {
  readonly answer: Promise<boolean>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Asks each question once. A repeated call waits for the same answer, in this process or in another one with the same
 * ledger.
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
   * @param ask called if the question is not open yet; its signal aborts when no caller waits any more
   * @throws the errors of `ask`, or the signal's reason
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
        // The asking caller gave up, or had no person to ask: this caller asks itself.
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
      // Only `true` is a yes: untyped callers may return other values.
      answer = (await ask(signal)) === true ? 'yes' : 'no';
    } finally {
      clearInterval(timer);
      counts = await this.#ledger.close(id, answer);
    }
    return counts && answer === 'yes';
  }
}

/** Questions in memory, which end with the process. */
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

/** Waits for an answer until the caller leaves. A question without a waiting caller ends. */
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
