import { quantilesOf, type Quantiles } from '@agent-rental/test/support/timing/quantiles';

export interface HonestTimes {
  health_ms: Quantiles;
  honest_ms: Quantiles;
  /** Honest runs that did not complete, with the reason. */
  failures: string[];
}

export type HonestCaller = ReturnType<typeof startHonestCaller>;

const HEALTH_EVERY_MS = 50;

/**
 * Starts a caller that requests `/health` and makes honest runs, one after another, until `stop`.
 *
 * @param run makes one honest run, and rejects when it does not complete
 */
export function startHonestCaller(baseUrl: string, run: () => Promise<void>) {
  const health: number[] = [];
  const honest: number[] = [];
  const failures: string[] = [];
  const stopping = new AbortController();
  let onRun = (): void => undefined;

  const repeat = async (action: () => Promise<void>, times: number[], pauseMs: number): Promise<void> => {
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      await action().then(
        () => times.push(performance.now() - startedAt),
        (error: unknown) => failures.push(String(error)),
      );
      onRun();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  const askHealth = async (): Promise<void> => {
    await (await fetch(`${baseUrl}/health`)).arrayBuffer();
  };
  const callers = [repeat(askHealth, health, HEALTH_EVERY_MS), repeat(run, honest, 0)];
  return {
    /** Resolves after this many runs. */
    async atLeast(runs: number) {
      while (honest.length + failures.length < runs) await new Promise<void>((resolve) => (onRun = resolve));
    },
    async stop(): Promise<HonestTimes> {
      stopping.abort();
      await Promise.all(callers);
      const [health_ms, honest_ms] = [quantilesOf(health), quantilesOf(honest)];
      return { health_ms, honest_ms, failures: failures.slice(0, 10) };
    },
  };
}
