import type { Pool } from 'pg';
import { StartError } from '../../platform/start-error.js';

/** The remedy for an error of PostgreSQL, by its SQLSTATE, or of the connection to it, by its system error. */
const ADVICE: Readonly<Record<string, string>> = {
  '28P01': 'the password is wrong. Put the password of that role into DATABASE_URL.',
  '28000':
    'the role does not exist or may not log in. Name another role in DATABASE_URL, or allow it in pg_hba.conf.',
  '3D000': 'the database does not exist. Create it (createdb), or name another one in DATABASE_URL.',
  '42501':
    'the role may not create tables there. Make it the owner of the database, or grant it create on schema public.',
  '25006': 'it is read-only, as a standby is. Name the primary in DATABASE_URL.',
  '53100': 'its disk is full. Free some space and start again.',
  '53300': 'it has no connection left. Raise max_connections, or end other clients.',
  '57P03': 'it is starting up or shutting down. Start again in a moment.',
  ECONNREFUSED: 'nothing answers there. Start PostgreSQL, or correct host and port in DATABASE_URL.',
  ENOTFOUND: 'there is no such host. Correct the host in DATABASE_URL.',
  EAI_AGAIN: 'the name of the host cannot be looked up. Check the network, or the host in DATABASE_URL.',
  ETIMEDOUT: 'it does not answer. Check the network and firewalls, or the host in DATABASE_URL.',
  EHOSTUNREACH: 'the host cannot be reached. Check the network, or the host in DATABASE_URL.',
  ECONNRESET: 'it broke the connection off. See its log.',
};

/** The oldest PostgreSQL that CI runs the server on. */
const OLDEST_VERSION = 15;

/**
 * Checks that the database answers and is new enough.
 *
 * @param url as in DATABASE_URL; its password is not shown.
 * @throws StartError
 */
export async function requireDatabase(pool: Pool, url: string): Promise<void> {
  const version = await pool
    .query<{ version: string }>(`select current_setting('server_version_num') as version`)
    .then(({ rows }) => Math.floor(Number(rows[0]?.version) / 10_000))
    .catch((cause: unknown) => {
      throw databaseError(cause, url);
    });
  if (version < OLDEST_VERSION) {
    throw new StartError(
      `The PostgreSQL at ${place(url)} is version ${version}: the server needs ${OLDEST_VERSION} or newer. ` +
        'Upgrade it, or name another one in DATABASE_URL.',
    );
  }
}

/** An operator's error for an error of the database, with the remedy. */
export function databaseError(cause: unknown, url: string): StartError {
  const chain = causes(cause);
  const advice = chain.map(({ code }) => ADVICE[code ?? '']).find((text) => text !== undefined);
  const said = chain.at(-1)?.message.split('\n')[0] ?? 'it failed without a reason';
  const reason = advice ?? `it says: ${said}. Check DATABASE_URL.`;
  return new StartError(`The database at ${place(url)} cannot be used: ${reason}`, { cause });
}

/** An error and its causes, the outermost first. */
function causes(error: unknown): (Error & { code?: string })[] {
  const found: (Error & { code?: string })[] = [];
  let next = error;
  while (next instanceof Error && found.length < 10) {
    found.push(next);
    next = next instanceof AggregateError ? next.errors[0] : next.cause;
  }
  return found;
}

/** Host, port and name, without user and password. */
function place(url: string): string {
  const { host, pathname, searchParams } = new URL(url);
  return `${searchParams.get('host') ?? host}${pathname}`;
}
