import type { Pool, PoolClient } from 'pg';
import type { Logger } from '../platform/logger.js';

/** Messages between replicas, over PostgreSQL. They may be lost: a reader that needs certainty also polls. */
export interface Notifications {
  readonly channel: string;
  publish(payload: string): Promise<void>;
  /** Calls `listener` with every message, of this replica too. */
  subscribe(listener: (payload: string) => void): void;
  close(): Promise<void>;
}

const RECONNECT_MS = 1_000;

/** Listens on one channel. Its connection is opened again when it breaks. */
export async function openNotifications(pool: Pool, channel: string, logger: Logger): Promise<Notifications> {
  const listeners = new Set<(payload: string) => void>();
  let client: PoolClient | undefined;
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const fresh = await pool.connect();
    const onBroken = (err?: Error) => {
      if (client !== fresh) return;
      client = undefined;
      fresh.release(true);
      if (isClosed) return;
      logger.warn({ err }, 'the connection for notifications broke; it is opened again');
      again();
    };
    client = fresh;
    fresh.on('error', onBroken);
    fresh.on('end', onBroken);
    fresh.on('notification', ({ payload }) => {
      for (const listener of listeners) listener(payload ?? '');
    });
    try {
      await fresh.query(`listen ${channel}`);
    } catch (error) {
      // A connection that broke meanwhile has been given back already.
      if (client === fresh) {
        client = undefined;
        fresh.release(true);
      }
      throw error;
    }
  }
  function again(): void {
    retry = setTimeout(() => void connect().catch(() => isClosed || again()), RECONNECT_MS);
  }

  await connect();
  return {
    channel,
    async publish(payload) {
      await pool.query('select pg_notify($1, $2)', [channel, payload]);
    },
    subscribe: (listener) => void listeners.add(listener),
    close: async () => {
      isClosed = true;
      clearTimeout(retry);
      const last = client;
      client = undefined;
      last?.release(true);
    },
  };
}
