import { Client, type Pool } from 'pg';
import type { Logger } from '../platform/logger.js';
import type { Rounds } from '../platform/rounds.js';

/** Which replica does the work that one of them does for all. */
export interface Leadership {
  isLeader(): boolean;
  /** Does the work while this replica leads; a new leader does it, too. Called once. */
  lead(work: () => Rounds): void;
  /** Calls `listener` with the messages of a leader, on every replica. */
  subscribe(listener: (news: string) => void): void;
  /** Tells the other replicas, and does nothing while the session is broken: they may not hear it. */
  tell(news: string): Promise<void>;
  /** Ends the work, and lets another replica lead at once. */
  close(): Promise<void>;
}

/** Key of the advisory lock that the leader's session holds. */
const LOCK = 5_120_977_347;
const CHANNEL = 'agent_rental_leader';
/** The message of a leader that ends. */
const FREE = 'free';
/** Time between two attempts, and between two signs of life of the leader. */
const EVERY_MS = 1_000;
/**
 * A session that is silent for so long is ended by the database, and its lock with it: its process hangs, or cannot be
 * reached. With an attempt each second, another replica leads in less than 5 s.
 */
const SILENCE_MS = 3_000;
/** A leader whose database does not answer for so long stops to lead. */
const ANSWER_MS = 2_500;

/**
 * Takes part in the choice of the leader: the replica whose session holds an advisory lock. The session is a separate
 * connection, so the end of a process frees the lock. No replica waits for the lock in the database: a waiting
 * statement would keep dead versions of rows alive.
 *
 * For a moment two replicas may work: a replica that lost its session ends its round. Rows decide all work that must
 * happen once.
 *
 * @returns after the first attempt
 */
export async function openLeadership(pool: Pool, logger: Pick<Logger, 'info' | 'warn'>): Promise<Leadership> {
  const listeners = new Set<(news: string) => void>();
  let session: Client | undefined;
  let isLeader = false;
  let isClosing = false;
  const closed = new AbortController();
  /** Was told that the session is broken. */
  let isTold = false;
  let work: (() => Rounds) | undefined;
  let working: Rounds | undefined;
  /** Work of an earlier time that ends its round. */
  let ending: Promise<unknown> = Promise.resolve();
  let wake = (): void => undefined;

  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, EVERY_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function begin(): Promise<void> {
    await ending;
    if (isLeader && !isClosing && !working) working = work?.();
  }

  function endWork(): Promise<unknown> {
    const rounds = working;
    working = undefined;
    if (rounds) ending = rounds.stop();
    return ending;
  }

  /** Forgets a session that broke. */
  function lose(client: Client, err?: unknown): void {
    if (session !== client) return;
    session = undefined;
    // While a statement is under way this only closes the socket; a dead peer answers nothing.
    client.end().catch(() => undefined);
    if (closed.signal.aborted) return;
    if (!isTold) {
      logger.warn({ err, was_leader: isLeader }, 'the session for leadership broke; it is opened again');
    }
    isTold = true;
    isLeader = false;
    void endWork();
  }

  async function connect(): Promise<Client> {
    const client = new Client({
      ...pool.options,
      application_name: 'agent-rental-leadership',
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
    });
    client.on('error', (err) => lose(client, err));
    client.on('end', () => lose(client));
    client.on('notification', ({ payload = '' }) => {
      if (payload === FREE) wake();
      else for (const listener of listeners) listener(payload);
    });
    session = client;
    await client.connect();
    // A crash loses notifications anyway, so no commit of this session waits for the disk.
    await client.query(
      `set idle_session_timeout = ${SILENCE_MS}; set synchronous_commit = off; listen ${CHANNEL}`,
    );
    isTold = false;
    return client;
  }

  /** Becomes the leader if none is; a leader shows that it lives. */
  async function attempt(): Promise<void> {
    const client = session ?? (await connect());
    if (isLeader) {
      await client.query('select 1');
      return;
    }
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      LOCK,
    ]);
    // The session may have been lost meanwhile, and its lock with it.
    if (rows[0]?.locked !== true || session !== client || closed.signal.aborted) return;
    isLeader = true;
    logger.info('this replica leads');
    void begin();
  }

  const attemptSafely = () =>
    attempt().catch((err: unknown) => {
      if (session) lose(session, err);
    });
  await attemptSafely();
  const attempts = (async () => {
    while (!closed.signal.aborted) {
      await pause();
      if (!closed.signal.aborted) await attemptSafely();
    }
  })();

  return {
    isLeader: () => isLeader,
    lead(next) {
      work = next;
      void begin();
    },
    subscribe: (listener) => void listeners.add(listener),
    async tell(news) {
      await session?.query('select pg_notify($1, $2)', [CHANNEL, news]);
    },
    async close() {
      // First, while the lock is held: no other replica leads before the last round has ended.
      isClosing = true;
      await endWork();
      closed.abort();
      wake();
      await attempts;
      await ending;
      const last = session;
      if (last && isLeader) {
        await last
          .query('select pg_advisory_unlock($1), pg_notify($2, $3)', [LOCK, CHANNEL, FREE])
          .catch(() => undefined);
      }
      isLeader = false;
      session = undefined;
      await last?.end().catch(() => undefined);
    },
  };
}
