import { quantilesOf, type Quantiles } from '@agent-rental/test/support/timing/quantiles';

export interface HonestTimes {
  health_ms: Quantiles;
  honest_ms: Quantiles;
  /** Honest runs that did not complete, with the reason. */
  failures: string[];
}

/** A caller that requests `/health` and makes honest runs, one after another, until `stop`. */
export interface HonestCaller {
  /** Resolves after this many runs. */
  atLeast(runs: number): Promise<void>;
  stop(): Promise<HonestTimes>;
}

const HEALTH_EVERY_MS = 50;

/** Starts the caller. `run` makes one honest run and rejects when it does not complete. */
export function startHonestCaller(baseUrl: string, run: () => Promise<void>): HonestCaller {
  const health: number[] = [];
  const honest: number[] = [];
  const failures: string[] = [];
  const stopping = new AbortController();
  let onRun = (): void => undefined;

  const timed = async (action: () => Promise<void>, times: number[]): Promise<void> => {
    const startedAt = performance.now();
    await action();
    times.push(performance.now() - startedAt);
  };
  const repeat = async (action: () => Promise<void>, times: number[], pauseMs: number): Promise<void> => {
    while (!stopping.signal.aborted) {
      await timed(action, times).catch((error: unknown) => failures.push(String(error)));
      onRun();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  const askHealth = async (): Promise<void> => {
    await (await fetch(`${baseUrl}/health`)).arrayBuffer();
  };
  const callers = [repeat(askHealth, health, HEALTH_EVERY_MS), repeat(run, honest, 0)];
  return {
    async atLeast(runs) {
      while (honest.length + failures.length < runs) await new Promise<void>((resolve) => (onRun = resolve));
    },
    async stop() {
      stopping.abort();
      await Promise.all(callers);
      return {
        health_ms: quantilesOf(health),
        honest_ms: quantilesOf(honest),
        failures: failures.slice(0, 10),
      };
    },
  };
}
