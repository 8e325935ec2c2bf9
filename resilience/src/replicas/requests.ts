import type { Random } from '@agent-rental/test/support/random';
import type { Log } from '../run-battery.js';
import type { AskedRun, Caller } from './caller.js';
import type { Got } from './client.js';
import { runOverMcp } from './mcp-calls.js';
import { newRun, readAgain, runCancelled, runPolled, runToEnd, type Context } from './runs.js';

/** The kinds of requests, and their shares in per cent. */
export const KINDS = [
  ['listings', 10],
  ['listing', 6],
  ['credentials', 8],
  ['runs', 7],
  ['earlier run', 10],
  ['run with a key', 24],
  ['run without a key', 8],
  ['streamed run', 6],
  ['run asked for twice at once', 5],
  ['earlier run asked for again', 5],
  ['run polled elsewhere', 4],
  ['cancelled run', 3],
  ['run over MCP', 4],
] as const;
type Kind = (typeof KINDS)[number][0];

/** The size of a load of mixed requests. */
export interface MixedOptions {
  /** The least number of requests, without the preparation. */
  readonly requests: number;
  readonly wallets: number;
  readonly concurrency: number;
  readonly seed: number;
  readonly log: Log;
}

/** Makes one request of a kind, and its follow-up requests. */
export async function make(kind: Kind, caller: Caller, context: Context): Promise<void> {
  const { client, random } = context;
  const bearer = caller.bearer;
  const read = (path: string) => client.ask({ method: 'GET', path, bearer }, true);
  switch (kind) {
    case 'listings':
      return expectOk(await read('/v1/listings?limit=20'), context);
    case 'listing':
      return expectOk(await read(`/v1/listings/${random.pick(caller.listings).id}`), context);
    case 'credentials':
      return expectOk(await read('/v1/credentials'), context);
    case 'runs':
      return expectOk(await read('/v1/runs?limit=20'), context);
    case 'earlier run': {
      const earlier = earlierRun(caller, random);
      if (earlier) await readAgain(caller, earlier, context);
      return undefined;
    }
    case 'run with a key':
      return runToEnd(caller, newRun(caller, context), context);
    case 'run without a key':
      return runToEnd(caller, newRun(caller, context, { hasKey: false }), context);
    case 'streamed run':
      return runToEnd(caller, newRun(caller, context, { way: 'stream' }), context);
    case 'run asked for twice at once': {
      const run = newRun(caller, context);
      await Promise.all([1, 2].map(() => runToEnd(caller, run, context)));
      return undefined;
    }
    case 'earlier run asked for again': {
      const earlier = earlierRun(caller, random, ({ key, way }) => key !== undefined && way === 'http');
      if (earlier) await runToEnd(caller, earlier, context);
      return undefined;
    }
    case 'run polled elsewhere':
      return runPolled(caller, newRun(caller, context, { way: 'async' }), context);
    case 'cancelled run':
      return runCancelled(caller, newRun(caller, context, { way: 'async', isCancelled: true }), context);
    case 'run over MCP':
      return runOverMcp(caller, newRun(caller, context, { hasKey: false, way: 'mcp' }), context);
  }
}

function expectOk(got: Got | undefined, { client }: Context): void {
  if (got && got.status !== 200) client.broken.push(`a read was answered ${got.status}: ${got.text}`);
}

function earlierRun({ done }: Caller, random: Random, is: (run: AskedRun) => boolean = () => true) {
  const fitting = done.filter(is);
  return fitting.length === 0 ? undefined : random.pick(fitting);
}
