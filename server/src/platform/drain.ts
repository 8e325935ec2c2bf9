import { setMaxListeners } from 'node:events';
import { ApiError } from '../errors/api-error.js';

/** Extra time for work that still runs after its time, so that it is handed over in order. */
const HAND_OVER_MS = 5_000;

const NO_NEW_RUNS = 'The server is shutting down and takes no new runs.';

/** Lets work in while the server is up, and lets it end when the server goes. */
export interface Drain {
  /** True once the server accepts no new runs. */
  readonly draining: boolean;
  /**
   * Aborted once the server accepts no new runs, so that waiting runs give up. The reason is the ApiError for the
   * caller.
   */
  readonly started: AbortSignal;
  /** Aborted when running work has to be handed over. The reason is the ApiError for the caller. */
  readonly timeUp: AbortSignal;
  /**
   * Counts a piece of work in; returns the function that counts it out.
   *
   * @throws ApiError `service_unavailable` with `Retry-After` while draining.
   */
  enter(): () => void;
  /**
   * Accepts no new runs and waits for the running ones, at most for `timeoutMs` and a few seconds for handing over. A
   * second call waits for the same end.
   */
  drain(timeoutMs: number): Promise<void>;
}

/** Makes a drain that is open. */
export function createDrain(): Drain {
  const beginning = new AbortController();
  const stopping = new AbortController();
  // Every run listens.
  setMaxListeners(0, beginning.signal, stopping.signal);
  let running = 0;
  let draining: Promise<void> | undefined;
  let onIdle: () => void = () => undefined;
  const refusal = (message: string) =>
    new ApiError('service_unavailable', message, { next: 'Try again.', retryAfterSeconds: 5 });

  return {
    get draining() {
      return draining !== undefined;
    },
    started: beginning.signal,
    timeUp: stopping.signal,
    enter() {
      if (draining) throw refusal(NO_NEW_RUNS);
      running += 1;
      let inside = true;
      return () => {
        if (!inside) return;
        inside = false;
        running -= 1;
        if (running === 0) onIdle();
      };
    },
    drain(timeoutMs) {
      draining ??= (async () => {
        beginning.abort(refusal(NO_NEW_RUNS));
        const idle = new Promise<void>((resolve) => {
          onIdle = resolve;
          if (running === 0) resolve();
        });
        if (await endsWithin(idle, timeoutMs)) return;
        stopping.abort(
          refusal('The server had to shut down before the agent was done. A charge is made good.'),
        );
        await endsWithin(idle, HAND_OVER_MS);
      })();
      return draining;
    },
  };
}

/** Whether work ends within a time. */
async function endsWithin(work: Promise<void>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, timeoutMs, false)));
  const ended = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return ended;
}
