/** How long after a client's timeout its cancellation arrives at the latest. */
const LATE_MS = 350;
/** The client's time begins with its request, which needs a moment to arrive. */
const EARLY_MS = 50;

/** A shorter timeout would end most calls of a tool. */
const SHORTEST_MS = 2_000;

/** What is known of a call's time. */
interface CallTimes {
  /** When the call came, in milliseconds of `performance.now`. */
  readonly receivedAt: number;
  /** After which times earlier calls of the caller were given up. */
  readonly earlier: () => readonly number[];
  /** Told when the client gives up, with how long it had waited. */
  readonly onGiveUp: (elapsedMs: number) => void;
}

/** What ends a call. */
interface CallEnd {
  /** Aborts when the client no longer wants the run. */
  readonly signal: AbortSignal;
  /** Aborts when the client only stopped waiting. */
  readonly leave: AbortSignal;
  /** Stops listening. */
  clear(): void;
}

/** Whether a time is likely to be a client's timeout: those are whole seconds. */
export function isTimeoutByItself(elapsedMs: number): boolean {
  return elapsedMs >= SHORTEST_MS - EARLY_MS && (elapsedMs + EARLY_MS) % 1_000 <= LATE_MS + EARLY_MS;
}

/** Whether two calls were given up after the same time: a person does not do that. */
export function isSameTimeout(elapsedMs: number, otherMs: number): boolean {
  return Math.min(elapsedMs, otherMs) >= SHORTEST_MS - EARLY_MS && Math.abs(elapsedMs - otherMs) <= LATE_MS;
}

/** Whether a call that was cancelled after so long was ended by its client's timeout. @param earlier times of its caller */
export function isClientTimeout(elapsedMs: number, earlier: readonly number[] = []): boolean {
  return isTimeoutByItself(elapsedMs) || earlier.some((one) => isSameTimeout(elapsedMs, one));
}

/**
 * Tells a client that gave up waiting from one that wants a run to stop. Some clients cancel a call at their own timeout and
 * call again: the run, which may be charged already, goes on for its grace and gives the second call its answer.
 *
 * @param cancelled aborts when the client cancels the call.
 * @param connection aborts when the connection breaks, where that is no cancellation.
 */
export function giveUpAtTimeouts(
  cancelled: AbortSignal,
  connection: AbortSignal | undefined,
  { receivedAt, earlier, onGiveUp }: CallTimes,
): CallEnd {
  const stop = new AbortController();
  const leave = new AbortController();
  let isOver = false;
  /** Heard once: a cancellation breaks the connection too, which may be noticed first. */
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    const elapsedMs = performance.now() - receivedAt;
    const isTimeout = isClientTimeout(elapsedMs, earlier());
    // Cancels are remembered whenever they come; a connection breaks for many reasons, at a timeout by its client.
    if (cancelled.aborted ? elapsedMs >= SHORTEST_MS - EARLY_MS : isTimeout) onGiveUp(elapsedMs);
    if (cancelled.aborted && !isTimeout) stop.abort(cancelled.reason);
    else leave.abort(cancelled.aborted ? cancelled.reason : connection?.reason);
  };
  cancelled.addEventListener('abort', end, { once: true });
  connection?.addEventListener('abort', end, { once: true });
  if (cancelled.aborted || connection?.aborted === true) end();
  return {
    signal: stop.signal,
    leave: leave.signal,
    clear() {
      cancelled.removeEventListener('abort', end);
      connection?.removeEventListener('abort', end);
    },
  };
}
