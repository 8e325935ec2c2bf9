import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { keepEmbeddedPostgres } from '../postgres/keep-running.js';
import { removeEmbeddedPostgres } from '../postgres/postgres.js';

const CONNECT_TIMEOUT_MS = 3_000;
/** The oldest PostgreSQL that the server takes, by its number. */
const OLDEST_VERSION = 150_000;

/** A part that a rehearsal has to itself. */
export interface OwnPart {
  /** Absent: the server does without it. */
  readonly url: string | undefined;
  /** In words, without a password. */
  readonly description: string;
  close(): Promise<void>;
}

/**
 * Makes an empty database on the PostgreSQL of this machine. Where none answers, starts PostgreSQL from npm.
 *
 * @param stateDir an open state folder
 */
export async function openDatabase(
  serverUrl: string,
  stateDir: string,
  onStep: (text: string) => void,
): Promise<OwnPart> {
  const { host } = new URL(serverUrl);
  try {
    return await createDatabase(serverUrl);
  } catch (error) {
    const postgres = await keepEmbeddedPostgres({ stateDir, onStep });
    return {
      url: postgres.url,
      description: `from npm, at ${new URL(postgres.url).host}; the one at ${host} cannot be used (${reasonOf(error)})`,
      close: async () => {
        await postgres.stop();
        await removeEmbeddedPostgres({ stateDir });
      },
    };
  }
}

async function createDatabase(serverUrl: string): Promise<OwnPart> {
  const name = `agent_rental_rehearsal_${randomBytes(4).toString('hex')}`;
  await query(serverUrl, async (client) => {
    const { rows } = await client.query<{ version: string }>(
      `select current_setting('server_version_num') as version`,
    );
    if (Number(rows[0]?.version) < OLDEST_VERSION) throw new Error('it is older than 15');
    await client.query(`create database ${name}`);
  });
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    description: `the database ${name} at ${url.host}`,
    close: () =>
      query(serverUrl, async (client) => {
        await client.query(`drop database if exists ${name} with (force)`);
      }),
  };
}

async function query(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // A connection that breaks later must not be an unhandled error event.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Looks for the Redis of this machine. Its keys of a rehearsal end by themselves within minutes. */
export async function findRedis(url: string): Promise<OwnPart> {
  const { host } = new URL(url);
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let broken: unknown;
  redis.on('error', (error) => (broken = error));
  const close = async () => undefined;
  try {
    await redis.connect();
    await redis.ping();
    return { url, description: host, close };
  } catch (error) {
    const reason = reasonOf(broken ?? error);
    return {
      url: undefined,
      description: `none answers at ${host} (${reason}): limits are in memory, for one replica`,
      close,
    };
  } finally {
    redis.disconnect();
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
