import { METRICS_TOKEN } from '@agent-rental/test/support/processes/replicas';
import type { Replica } from '@agent-rental/test/support/replicas/replica';
import { setTimeout as delay } from 'node:timers/promises';

const ASK_EVERY_MS = 50;
const ANSWER_MS = 1_000;
const LONGEST_MS = 20_000;

/** The replicas whose metrics report a leader. */
export async function leadersOf(replicas: readonly Replica[]): Promise<Replica[]> {
  const leads = await Promise.all(replicas.map((replica) => isLeader(replica)));
  return replicas.filter((_, index) => leads[index]);
}

async function isLeader(replica: Replica): Promise<boolean> {
  return /^agent_rental_leader 1$/m.test(await metricsOf(replica));
}

/** The number of requests that a replica counted alone, because Redis did not answer in time. */
export async function fallbacksOf(replica: Replica): Promise<number> {
  const text = await metricsOf(replica);
  return Number(/^agent_rental_rate_limit_fallbacks_total (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** The metrics of a replica; empty without an answer. */
async function metricsOf({ dev }: Replica): Promise<string> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ANSWER_MS);
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
  const text = await fetch(`${dev.base_url}/metrics`, { headers, signal: late.signal })
    .then((response) => response.text())
    .catch(() => '');
  clearTimeout(timer);
  return text;
}

/** Waits for a leader, at most {@link LONGEST_MS}. */
export async function takeOver(replicas: () => readonly Replica[]): Promise<void> {
  const deadline = performance.now() + LONGEST_MS;
  while ((await leadersOf(replicas())).length === 0 && performance.now() <= deadline) {
    await delay(ASK_EVERY_MS);
  }
}
