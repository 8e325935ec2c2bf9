import { randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import type { RecordedValue, RunStatements } from './run-statements.js';

/** Sends the statements of a run, for a run of its own, around a call of its agent. */
export type Replay = (callAgent: () => Promise<string>) => Promise<string>;

/** Makes it. Each statement is prepared once by each connection. */
export function createReplay(pool: Pool, { runId, statements, beforeCall }: RunStatements): Replay {
  const named = statements.map((statement, index) => ({ ...statement, name: `statement ${index}` }));
  const send = async (client: PoolClient, some: typeof named, own: string): Promise<void> => {
    for (const { name, text, values } of some) {
      await client.query({ name, text, values: values.map((value) => valueOf(value, runId, own)) });
    }
  };
  return async (callAgent) => {
    const own = randomUUID();
    const client = await pool.connect();
    try {
      await send(client, named.slice(0, beforeCall), own);
      const output = await callAgent();
      await send(client, named.slice(beforeCall), own);
      return output;
    } finally {
      client.release();
    }
  };
}

/** A recorded value, with another run's id in place of the recorded one. */
function valueOf(value: RecordedValue, recorded: string, own: string): unknown {
  if (typeof value === 'string') return value.replaceAll(recorded, own);
  if (Array.isArray(value)) return value.map((item) => valueOf(item, recorded, own));
  if (value !== null && typeof value === 'object') return Buffer.from(value.bytes, 'base64');
  return value;
}
