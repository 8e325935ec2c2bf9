import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import type { Replica } from '@agent-rental/test/support/replicas/replica';

/** What callers ask, and whether an answer is one. */
export interface Asking {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The body of the next request; undefined: none. */
  body(): object | undefined;
  readonly bearers: readonly string[];
  isGood(status: number, text: string): boolean;
}

/** What a load came to. */
export interface Spread {
  readonly per_s: number;
  readonly times_ms: number[];
  /** Processor time of all the replicas' processes for an answer, in milliseconds; without the database and the rest. */
  readonly server_cpu_ms: number;
}

/**
 * Has callers ask one request after the other, each at one of the replicas over a connection that is kept.
 *
 * @throws Error on an answer that is none.
 */
export async function spreadLoad(
  replicas: readonly Replica[],
  asking: Asking,
  { callers, seconds }: { callers: number; seconds: number },
): Promise<Spread> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const timesMs: number[] = [];
  const cpuBefore = await cpuMs(replicas);
  const startedAt = performance.now();
  const end = startedAt + seconds * 1_000;
  try {
    await Promise.all(
      Array.from({ length: callers }, async (_, index) => {
        const replica = replicas[index % replicas.length] as Replica;
        const bearer = asking.bearers[index % asking.bearers.length] ?? '';
        while (performance.now() < end) {
          const askedAt = performance.now();
          await ask(agent, replica, bearer, asking);
          timesMs.push(performance.now() - askedAt);
        }
      }),
    );
  } finally {
    agent.destroy();
  }
  const tookSeconds = (performance.now() - startedAt) / 1_000;
  return {
    per_s: timesMs.length / tookSeconds,
    times_ms: timesMs,
    server_cpu_ms: ((await cpuMs(replicas)) - cpuBefore) / timesMs.length,
  };
}

function ask(
  agent: Agent,
  { dev }: Replica,
  bearer: string,
  { method, path, body, isGood }: Asking,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = body();
    const headers = {
      authorization: `Bearer ${bearer}`,
      ...(sent ? { 'content-type': 'application/json' } : {}),
    };
    const outgoing = request(dev.base_url + path, { agent, headers, method }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.once('error', reject).once('end', () => {
        const { statusCode = 0 } = response;
        if (isGood(statusCode, text)) resolve();
        else reject(new Error(`${method} ${path} was answered ${statusCode}: ${text}`));
      });
    });
    outgoing.once('error', reject).end(sent && JSON.stringify(sent));
  });
}

/** Ticks of `/proc/<pid>/stat` in a second, on every Linux. */
const TICKS_PER_SECOND = 100;

/** NaN where there is no `/proc`. */
async function cpuMs(replicas: readonly Replica[]): Promise<number> {
  const all = await Promise.all(
    replicas.map(async ({ pid }) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      // The name, in parentheses, may hold spaces.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
    }),
  );
  return all.reduce((sum, ms) => sum + ms, 0);
}
