/** How long after a client's timeout its cancellation arrives at the latest. */
const LATE_MS = 350;
/** The client's time begins with its request, which needs a moment to arrive. */
const EARLY_MS = 50;

/** A shorter timeout would end most calls of a tool. */
const SHORTEST_MS = 2_000;

/** What ends a call. */
interface CallEnd {
  /** Aborts when the client no longer wants the run. */
  readonly signal: AbortSignal;
  /** Aborts when the client only stopped waiting. */
  readonly leave: AbortSignal;
  /** Stops listening. */
  clear(): void;
}

/** Whether a call that was cancelled after so long was ended by its client's timeout: those are whole seconds. */
export function isClientTimeout(elapsedMs: number): boolean {
  return elapsedMs >= SHORTEST_MS - EARLY_MS && (elapsedMs + EARLY_MS) % 1_000 <= LATE_MS + EARLY_MS;
}

/**
 * Tells a client that gave up waiting from one that wants a run to stop. Some clients cancel a call at their own timeout and
 * call again: the run, which may be charged already, goes on for its grace and gives the second call its answer.
 *
 * @param cancelled aborts when the client cancels the call.
 * @param connection aborts when the connection breaks, where that is no cancellation.
 * @param receivedAt when the call came, in milliseconds of `performance.now`.
 */
export function giveUpAtTimeouts(
  cancelled: AbortSignal,
  connection: AbortSignal | undefined,
  receivedAt: number,
): CallEnd {
  const stop = new AbortController();
  const leave = new AbortController();
  const onCancel = (): void =>
    (isClientTimeout(performance.now() - receivedAt) ? leave : stop).abort(cancelled.reason);
  const onBreak = (): void => leave.abort(connection?.reason);
  // A cancellation is noticed first: it may break the connection, too.
  cancelled.addEventListener('abort', onCancel, { once: true });
  connection?.addEventListener('abort', onBreak, { once: true });
  if (cancelled.aborted) onCancel();
  if (connection?.aborted === true) onBreak();
  return {
    signal: stop.signal,
    leave: leave.signal,
    clear() {
      cancelled.removeEventListener('abort', onCancel);
      connection?.removeEventListener('abort', onBreak);
    },
  };
}
