import { chmodSync, chownSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { EmbeddedPostgresError } from './errors.js';

/** The user that PostgreSQL's processes run as and its data belongs to. */
export interface ServiceAccount {
  readonly uid: number;
  readonly gid: number;
}

/** In this order, because the first exists to own databases and the second exists nearly everywhere. */
const SERVICE_ACCOUNT_NAMES = ['postgres', '_postgres', 'nobody'];

/** The account that replaces root, because PostgreSQL refuses to run as root; undefined if there is none. */
export function findServiceAccount(): ServiceAccount | undefined {
  const accounts = new Map<string, ServiceAccount>();
  for (const line of readUserDatabase().split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (name === undefined || uid === undefined || gid === undefined) continue;
    // macOS writes one of these ids as -2.
    const account = { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
    if (account.uid !== 0) accounts.set(name, account);
  }
  for (const name of SERVICE_ACCOUNT_NAMES) {
    const account = accounts.get(name);
    if (account !== undefined) return account;
  }
  return undefined;
}

function readUserDatabase(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    // A minimal container may come without one.
    return '';
  }
}

/**
 * Chooses who runs a new database: this user, or a service account if this is root.
 *
 * @throws {EmbeddedPostgresError} on Windows, as root without a service account, and for a user id without
 * an entry in the user database, which initdb needs.
 */
export function chooseAccount(): ServiceAccount {
  const account = ownAccount();
  if (account.uid === 0) {
    const service = findServiceAccount();
    if (service === undefined) {
      throw new EmbeddedPostgresError(
        'PostgreSQL does not run as root, and the users postgres and nobody do not exist. Start the server as another user, or set DATABASE_URL.',
      );
    }
    return service;
  }
  try {
    userInfo();
  } catch (error) {
    throw new EmbeddedPostgresError(
      `User id ${account.uid} has no entry in /etc/passwd, which PostgreSQL needs; start the server as a named user, or set DATABASE_URL.`,
      { cause: error },
    );
  }
  return account;
}

/** The user of this process. */
export function ownAccount(): ServiceAccount {
  if (process.getuid === undefined || process.getgid === undefined) {
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL does not run on ${process.platform}; set DATABASE_URL to a PostgreSQL server.`,
    );
  }
  return { uid: process.getuid(), gid: process.getgid() };
}

/**
 * Lets only the account traverse a folder of root's. Where root may not give folders away
 * nothing changes, and the program that runs as the account reports why.
 */
export function openToAccount(folder: string, account: ServiceAccount): void {
  try {
    chownSync(folder, 0, account.gid);
    chmodSync(folder, 0o710);
  } catch {
    // As in a container without CAP_CHOWN, or one that knows a single user id.
  }
}
