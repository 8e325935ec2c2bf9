import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from './postgres.js';

/** Crashes are forgotten after this time. */
const CRASH_WINDOW_MS = 60_000;
const MAX_CRASHES_IN_WINDOW = 5;
const FIRST_RESTART_DELAY_MS = 50;

/**
 * Starts PostgreSQL as {@link startEmbeddedPostgres} does. Starts it again on the same data, at the same address,
 * whenever it ends unasked, for instance when the system kills it for its memory. `pid` names the present process.
 * `exited` resolves when PostgreSQL is gone for good: stopped, impossible to start again, or ended too often.
 *
 * @throws {EmbeddedPostgresError} when the first start fails, with the remedy in one line.
 */
export async function keepEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { logger } = options;
  let postgres = await startEmbeddedPostgres(options);
  const { url } = postgres;
  const port = Number(new URL(url).port);
  const stopping = new AbortController();
  let restarting: Promise<unknown> = Promise.resolve();

  /** @returns why it is not started any more */
  async function keep(): Promise<{ reason: string }> {
    let crashTimes: number[] = [];
    let { reason } = await postgres.exited;
    while (!stopping.signal.aborted) {
      const now = performance.now();
      crashTimes = [...crashTimes.filter((time) => time > now - CRASH_WINDOW_MS), now];
      const crashes = crashTimes.length;
      if (crashes > MAX_CRASHES_IN_WINDOW)
        return { reason: `${reason}, the ${crashes}th time within a minute` };
      logger?.warn(`${reason}; it is started again`);
      const pauseMs = FIRST_RESTART_DELAY_MS * 2 ** (crashes - 1);
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) break;
      const next = startEmbeddedPostgres({ ...options, onStep: () => undefined, port });
      restarting = next.catch(() => undefined);
      try {
        postgres = await next;
        ({ reason } = await postgres.exited);
      } catch (error) {
        reason = (error as Error).message;
      }
    }
    return { reason };
  }

  const exited = keep();
  return {
    url,
    get pid() {
      return postgres.pid;
    },
    exited,
    async stop() {
      stopping.abort();
      await restarting;
      await postgres.stop();
      await exited;
    },
  };
}
