import { Agent, request } from 'node:http';
import type { OwnMarketplace } from '@agent-rental/test/support/marketplace';

/** Callers that each send the next run as soon as the one before is answered, also when it was refused. */
export interface EagerCallers {
  readonly callers: number;
  readonly seconds: number;
  /** Gives the body of each run. */
  body(): object;
  /** Bearers, which the callers share. */
  readonly bearers: readonly string[];
}

/** What they were answered. */
export interface Answers {
  /** Completed runs in a second. */
  good_per_s: number;
  /** Answers of 429 in a second. */
  refused_per_s: number;
  /** Time to answer a completed run. */
  good_ms: number[];
  refused_ms: number[];
}

/** Sends them over connections that are kept. @throws Error on any answer but a completed run or 429. */
export async function sendEagerly(
  { dev }: Pick<OwnMarketplace, 'dev'>,
  { callers, seconds, body, bearers }: EagerCallers,
): Promise<Answers> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const end = performance.now() + seconds * 1_000;
  const good: number[] = [];
  const refused: number[] = [];
  const one = (bearer: string) =>
    new Promise<void>((resolve, reject) => {
      const startedAt = performance.now();
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
      const outgoing = request(
        `${dev.base_url}/v1/execute`,
        { agent, headers, method: 'POST' },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.once('error', reject).once('end', () => {
            const tookMs = performance.now() - startedAt;
            if (response.statusCode === 429) refused.push(tookMs);
            else if (response.statusCode === 200 && text.includes('"completed"')) good.push(tookMs);
            else return reject(new Error(`A run was answered ${response.statusCode}: ${text}`));
            resolve();
          });
        },
      );
      outgoing.once('error', reject).end(JSON.stringify(body()));
    });
  try {
    await Promise.all(
      Array.from({ length: callers }, async (_, index) => {
        while (performance.now() < end) await one(bearers[index % bearers.length] ?? '');
      }),
    );
  } finally {
    agent.destroy();
  }
  return {
    good_per_s: good.length / seconds,
    refused_per_s: refused.length / seconds,
    good_ms: good,
    refused_ms: refused,
  };
}
