import { APICallError } from '@ai-sdk/provider';
import { setTimeout as pause } from 'node:timers/promises';

const RETRIES = 2;
const FIRST_PAUSE_MS = 2_000;
/** The longest pause that a vendor may ask for. */
const LONGEST_PAUSE_MS = 60_000;

/**
 * Repeats a vendor's call after a failure that may pass. The pause is the one that the answer asks for, or 2 s and then
 * 4 s.
 *
 * @throws the last failure; the reason of `signal`.
 */
export async function withRetries<T>(call: () => PromiseLike<T>, signal: AbortSignal): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      if (retries === RETRIES || !APICallError.isInstance(error) || !error.isRetryable) throw error;
      const pauseMs = askedPauseMs(error.responseHeaders) ?? FIRST_PAUSE_MS * 2 ** retries;
      await pause(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

/** The pause that an answer asks for, if it is short. */
function askedPauseMs(headers: Record<string, string> = {}): number | undefined {
  const inMs = Number.parseFloat(headers['retry-after-ms'] ?? '');
  const after = headers['retry-after'] ?? '';
  const seconds = Number.parseFloat(after);
  const asked = [inMs, seconds * 1_000, Date.parse(after) - Date.now()].find((ms) => !Number.isNaN(ms));
  return asked !== undefined && asked >= 0 && asked < LONGEST_PAUSE_MS ? asked : undefined;
}
