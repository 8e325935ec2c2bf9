/** A signal that aborts after a timeout or when another signal aborts, until it is cleared. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** True if the timeout came before an abort of another signal. */
  readonly isOver: boolean;
  /** Stops the timer and detaches from the other signals. Call it on every path, for instance in `finally`. */
  clear(): void;
}

/**
 * Starts a deadline. It replaces `AbortSignal.timeout` and `AbortSignal.any`. In Node 20 nothing holds a timeout signal
 * inside of `any`: after a garbage collection it never aborts. Here the timer and the listeners hold the signal.
 *
 * @param timeoutMs undefined: no timeout, only the other signals. At the timeout `signal.reason` is a `TimeoutError`.
 */
export function createDeadline(
  timeoutMs: number | undefined,
  ...others: (AbortSignal | undefined)[]
): Deadline {
  const controller = new AbortController();
  const listeners: (() => void)[] = [];
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function clear(): void {
    clearTimeout(timer);
    for (const remove of listeners.splice(0)) remove();
  }

  function end(reason: unknown): void {
    clear();
    controller.abort(reason);
  }

  if (timeoutMs !== undefined) {
    timer = setTimeout(() => {
      isOver = true;
      end(new DOMException('The operation took too long.', 'TimeoutError'));
    }, timeoutMs);
  }
  for (const other of others) {
    if (other === undefined) continue;
    if (other.aborted) {
      end(other.reason);
      break;
    }
    const onAbort = (): void => end(other.reason);
    other.addEventListener('abort', onAbort, { once: true });
    listeners.push(() => other.removeEventListener('abort', onAbort));
  }
  return {
    signal: controller.signal,
    get isOver() {
      return isOver;
    },
    clear,
  };
}
