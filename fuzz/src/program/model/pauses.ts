/** The window in which pauses count, in seconds: 30 days. */
export const PAUSE_WINDOW = 2_592_000n;

/** The unit of the memory of pauses, in seconds: half a day. */
export const PAUSE_UNIT = 43_200n;

const WINDOW_UNITS = PAUSE_WINDOW / PAUSE_UNIT;
const LAST_HALF_DAY = 2n ** 32n - 1n;

/** A listing's memory of ended pauses. */
export interface PauseMemory {
  /** The half days, counted from 1970, in which half a day of pause was completed. */
  readonly completed: readonly bigint[];
  /** The half day in which the last pause ended. */
  readonly latest: bigint;
  /** The seconds of pauses after the last completed half day of pause. */
  readonly remainder: bigint;
}

/** The memory of a new listing. */
export const NEVER_PAUSED: PauseMemory = { completed: [], latest: 0n, remainder: 0n };

function since1970(time: bigint): bigint {
  return time < 0n ? 0n : time;
}

function halfDay(time: bigint): bigint {
  const number = since1970(time) / PAUSE_UNIT;
  return number > LAST_HALF_DAY ? LAST_HALF_DAY : number;
}

/** Forgets pauses that ended more than 30 days ago. A clock that goes back forgets nothing. */
function forget(memory: PauseMemory, now: bigint): PauseMemory {
  const today = halfDay(now);
  const latest = today > memory.latest ? today : memory.latest;
  if (latest - memory.latest > WINDOW_UNITS) {
    return { completed: [], latest, remainder: 0n };
  }
  return {
    completed: memory.completed.filter((number) => latest - number <= WINDOW_UNITS),
    latest,
    remainder: memory.remainder,
  };
}

/** Remembers a pause, half day by half day. */
export function addPause(memory: PauseMemory, from: bigint, to: bigint): PauseMemory {
  const { completed, latest, remainder } = forget(memory, to);
  const [start, end] = [since1970(from), since1970(to)];
  const seconds = remainder + since1970(end - start);
  const numbers = new Set(completed);
  const count = seconds / PAUSE_UNIT;
  // Backwards from the last unit: each was completed half a day before the next. Only the units in the window count.
  const last = latest - (halfDay(end) - halfDay(end - (seconds % PAUSE_UNIT)));
  for (let before = 0n; before < count && latest - last + before <= WINDOW_UNITS; before += 1n) {
    numbers.add(last - before);
  }
  return { completed: [...numbers], latest, remainder: seconds % PAUSE_UNIT };
}

/** The seconds of pauses that count at a time. An ongoing pause counts completely. */
export function pausedSeconds(memory: PauseMemory, pausedAt: bigint | null, now: bigint): bigint {
  const { completed, remainder } = forget(memory, now);
  const ongoing = pausedAt === null ? 0n : since1970(since1970(now) - since1970(pausedAt));
  return BigInt(completed.length) * PAUSE_UNIT + remainder + ongoing;
}

/** The memory as 64 bits: bit i for the half day `latest - i`. */
export function pauseBits({ completed, latest }: PauseMemory): bigint {
  return completed.reduce((bits, number) => bits | (1n << (latest - number)), 0n);
}

/** The time at which the oldest half day of pause stops to count, or null. */
export function nextForgotten({ completed }: PauseMemory): bigint | null {
  const [first, ...others] = completed;
  if (first === undefined) {
    return null;
  }
  const oldest = others.reduce((least, number) => (number < least ? number : least), first);
  return (oldest + WINDOW_UNITS + 1n) * PAUSE_UNIT;
}
