import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { call, login } from '@agent-rental/test/support/http';
import { newStateDir, removeStateDir, startMarketplace } from '@agent-rental/test/support/marketplace';
import type { BareOptions } from './bare-server.js';
import type { DatabaseAddress, ProbeAnswer, ProbeQuestion, RecordedQuery } from './probe-messages.js';

/** A server process whose CPU time is known. */
export interface MeasuredServer {
  readonly url: string;
  /** CPU time that the process has used, in microseconds; its children are not in it. */
  cpuMicroseconds(): Promise<number>;
  stop(): Promise<void>;
}

/** The marketplace as `npm start` runs it. */
export interface MeasuredMarketplace extends MeasuredServer {
  /** A wallet's token, and an API key of the same wallet. */
  readonly credentials: { token: string; apiKey: string };
  /** The queries that are made while one request is answered, and of what database. */
  queriesOf(path: string, bearer: string): Promise<{ queries: RecordedQuery[]; database: DatabaseAddress }>;
}

async function ask<P extends ProbeAnswer['probe']>(
  child: ChildProcess,
  probe: P,
): Promise<Extract<ProbeAnswer, { probe: P }>> {
  child.send({ probe } satisfies { probe: ProbeQuestion['probe'] });
  const answered = new AbortController();
  const { signal } = answered;
  const ended = once(child, 'exit', { signal }).then(([code, by]) => {
    throw new Error(`The measured server ended with ${code ?? by}.`);
  });
  try {
    for (;;) {
      const [answer] = (await Promise.race([once(child, 'message', { signal }), ended])) as [
        Partial<ProbeAnswer>,
      ];
      if (answer.probe === probe) return answer as Extract<ProbeAnswer, { probe: P }>;
    }
  } finally {
    ended.catch(() => undefined);
    answered.abort();
  }
}

const cpuOf = async (child: ChildProcess) => (await ask(child, 'cpu')).cpuMicroseconds;

/** Starts the marketplace with the probe in it. Its limits count, and are too high to be reached. */
export async function startMeasuredMarketplace(): Promise<MeasuredMarketplace> {
  const stateDir = await newStateDir();
  const probe = new URL('probe.js', import.meta.url).href;
  const marketplace = await startMarketplace(stateDir, {
    NODE_OPTIONS: `--import ${probe}`,
    RATE_LIMIT_PER_MINUTE: '1000000000',
    NODE_ENV: 'production',
    SANDBOX_MIN_ISOLATION: 'runtime',
  });
  const { process: child } = marketplace;
  return {
    url: marketplace.dev.base_url,
    credentials: {
      token: await login(marketplace, await marketplace.wallet('renter')),
      apiKey: marketplace.apiKey,
    },
    cpuMicroseconds: () => cpuOf(child),
    async queriesOf(path, token) {
      await ask(child, 'record');
      const { status } = await call(marketplace, 'GET', path, { token });
      const { queries, database } = await ask(child, 'recorded');
      if (status !== 200 || !database) throw new Error(`GET ${path} answered ${status}.`);
      return { queries, database };
    },
    async stop() {
      await marketplace.stop();
      await removeStateDir(stateDir);
    },
  };
}

/** Starts the baseline on the same database. */
export async function startBareServer(options: BareOptions): Promise<MeasuredServer> {
  const child = fork(fileURLToPath(new URL('bare-server.js', import.meta.url)), {
    env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production' },
  });
  child.send(options);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return {
    url,
    cpuMicroseconds: () => cpuOf(child),
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
