import { types, type CustomTypesConfig, type default as pg } from 'pg';

/** A pool for graphile-worker. */
export interface JobsPool {
  readonly pool: pg.Pool;
  /** Waits for the calls in progress. Calls that fail after it are not reported. */
  close(): Promise<void>;
}

/**
 * Passes on the connections of `pool`, and marks errors of the connection as ones to repeat after.
 *
 * graphile-worker (0.17.3 and 0.18.0) does not wait for the call that takes a finished task out of the queue. It repeats
 * that call only after errors of four codes. Any other error would be an unhandled rejection, which ends the process. A
 * call that waits for its connection when the pool ends would fail only after the pool's timeout. It also writes the ids
 * of failed tasks as JSON, which knows no `bigint`. So its 64-bit integers are text, the default of `pg`.
 */
export function createJobsPool(pool: pg.Pool): JobsPool {
  let calls = 0;
  let closed = false;
  let onIdle: () => void = () => undefined;

  const ended = () => {
    calls -= 1;
    if (calls === 0) onIdle();
  };
  /** Throws an error that graphile-worker repeats after; once closed it never ends: the call is one it does not await. */
  async function failed(error: unknown): Promise<never> {
    if (closed) await new Promise(() => undefined);
    throw isOfConnection(error) ? repeatable(error) : error;
  }

  async function connect(): Promise<pg.PoolClient> {
    calls += 1;
    try {
      const client = await pool.connect();
      return replaceMember(client, {
        query: (query: string | pg.QueryConfig, values?: unknown[]) => {
          const config = typeof query === 'string' ? { text: query, values: values ?? [] } : query;
          return client.query<pg.QueryResultRow>({ ...config, types: INT8_AS_TEXT }).catch(failed);
        },
        release: (error?: boolean | Error) => {
          client.release(error);
          ended();
        },
      });
    } catch (error) {
      ended();
      return failed(error);
    }
  }

  return {
    pool: replaceMember(pool, {
      // With a callback it is the connection that listens for new tasks, which graphile-worker opens anew by itself.
      connect: (callback?: Parameters<typeof pool.connect>[0]) =>
        callback === undefined ? connect() : pool.connect(callback),
    }),
    async close() {
      if (calls > 0) await new Promise<void>((resolve) => (onIdle = resolve));
      closed = true;
    },
  };
}

const { INT8 } = types.builtins;
const INT8_AS_TEXT: CustomTypesConfig = {
  getTypeParser: ((id: typeof INT8, format?: 'text') =>
    id === INT8 ? String : types.getTypeParser(id, format)) as typeof types.getTypeParser,
};

/** The object with other functions for some of its members. */
function replaceMember<T extends object>(target: T, members: Record<string, unknown>): T {
  return new Proxy(target, {
    get(_target, key) {
      if (typeof key === 'string' && Object.hasOwn(members, key)) return members[key];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** SQLSTATE classes without a fault of the statement: the connection, resources and an operator's intervention. */
const PASSING_CLASSES = new Set(['08', '53', '57']);

function isOfConnection(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  const isSqlState = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);
  return !isSqlState || PASSING_CLASSES.has(code.slice(0, 2));
}

/** With a code that graphile-worker repeats after: 100 times, 3 s to 2 minutes apart. */
function repeatable(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  return Object.assign(new Error(message, { cause: error }), { code: 'ETIMEDOUT' });
}
