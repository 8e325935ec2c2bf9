import type { Served } from '@agent-rental/test/support/marketplace';
import { METRICS_TOKEN } from '@agent-rental/test/support/processes/replicas';
import { createDeadline } from '@agent-rental/sdk';
import type { Replica } from '@agent-rental/test/support/replicas/replica';
import { until } from '@agent-rental/test/support/timing/until';

const ANSWER_MS = 1_000;

/** The replicas whose metrics report a leader. */
export async function leadersOf(replicas: readonly Replica[]): Promise<Replica[]> {
  const metrics = await Promise.all(replicas.map(metricsOf));
  return replicas.filter((_, index) => /^agent_rental_leader 1$/m.test(metrics[index] ?? ''));
}

/** The number of requests that a replica counted alone, because Redis did not answer in time. */
export async function fallbacksOf(replica: Served): Promise<number> {
  const text = await metricsOf(replica);
  return Number(/^agent_rental_rate_limit_fallbacks_total (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** The metrics of a replica; empty without an answer. */
async function metricsOf({ dev }: Served): Promise<string> {
  const late = createDeadline(ANSWER_MS);
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
  return fetch(`${dev.base_url}/metrics`, { headers, signal: late.signal })
    .then((response) => response.text())
    .catch(() => '')
    .finally(late.clear);
}

/** Waits for a leader, at most 20 s. */
export async function takeOver(replicas: () => readonly Replica[]): Promise<void> {
  await until(async () => (await leadersOf(replicas())).length > 0, 20_000, 50).catch(() => undefined);
}
