import { performance } from 'node:perf_hooks';

/** Time budget of one iteration of the event loop for the output of all sandboxes together, in milliseconds. */
const BUDGET_MS = 2;
/** Lines of one sandbox that one iteration serves although the budget is used. */
const PROMPT_LINES_PER_SANDBOX = 4;
/** The same for all sandboxes together. */
const PROMPT_LINES = 40;
const PROMPT_BYTES = 256 * 1024;

interface Waiting {
  resolve(): void;
  needsWholeBudget: boolean;
}

/** Time of the current iteration's first use of its budget, in milliseconds of `performance.now`; undefined: not yet. */
let begunAt: number | undefined;
/** First in, first out. */
const waiting: Waiting[] = [];
let isScheduled = false;
/** Number of the current iteration. */
let iteration = 0;
let promptLines = 0;
let promptBytes = 0;

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    begunAt = undefined;
    iteration += 1;
    promptLines = 0;
    promptBytes = 0;
    wakeNext();
  });
}

/** Wakes the first caller; then the next ones, one after the other, while the budget lasts. */
function wakeNext(): void {
  const next = waiting.shift();
  if (next === undefined) return;
  begunAt ??= performance.now();
  next.resolve();
  // The caller continues in microtasks. A tick that is added by a microtask runs after all of them.
  queueMicrotask(() => process.nextTick(wakeNextInBudget));
}

function wakeNextInBudget(): void {
  if (waiting[0]?.needsWholeBudget !== true && hasTurnTime()) wakeNext();
  else schedule();
}

/**
 * True while this iteration of the event loop has budget left for the output of sandboxes. False: continue after
 * `nextTurn`, so that timers, requests and other sandboxes run in between.
 */
export function hasTurnTime(): boolean {
  const now = performance.now();
  if (begunAt === undefined) {
    begunAt = now;
    schedule();
    return true;
  }
  return now - begunAt < BUDGET_MS;
}

/**
 * Resolves in a later iteration of the event loop, in the order of the calls. One iteration serves callers until its budget
 * is used.
 *
 * @param needsWholeBudget for work that takes about as long as the budget: the iteration serves this caller first.
 */
export function nextTurn({ needsWholeBudget = false } = {}): Promise<void> {
  return new Promise((resolve) => {
    waiting.push({ resolve, needsWholeBudget });
    schedule();
  });
}

/**
 * The few short lines that one sandbox may send in an iteration without waiting for its turn. Work that a line causes, such as a
 * call of a model, uses the budget, too. Without this class, the first lines of twenty simultaneous runs would take twenty
 * iterations (`npm run bench -- startup`).
 */
export class PromptLines {
  #iteration = -1;
  #left = 0;

  /** Whether a line of this many bytes is served at once. Counts the line in that case. */
  admits(bytes: number): boolean {
    if (this.#iteration !== iteration) {
      this.#iteration = iteration;
      this.#left = PROMPT_LINES_PER_SANDBOX;
    }
    if (this.#left === 0 || promptLines >= PROMPT_LINES || promptBytes + bytes > PROMPT_BYTES) return false;
    this.#left -= 1;
    promptLines += 1;
    promptBytes += bytes;
    schedule();
    return true;
  }
}
