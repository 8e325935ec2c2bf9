import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createDeadline } from '@agent-rental/contract';
import { Keypair } from '@solana/web3.js';
import { login } from '@agent-rental/test/support/http';
import { elsewhere } from '@agent-rental/test/support/replicas/replica-market';
import { slowTask } from '@agent-rental/test/support/agents/slow-agents';
import { archiveWithLargeHeader, HEAVY_SCHEMAS, HOSTILE_JSON, HOSTILE_PATHS } from './hostile-values.js';
import { HOSTILE_TASKS } from './hostile-endpoints.js';

/** The parts of a marketplace that the attackers use. */
export interface Target {
  readonly baseUrl: string;
  readonly agentOrigin: string;
  readonly silentOrigin: string;
  readonly hostileListing: string;
  readonly honestListing: string;
  /** Tokens of wallets that rented the hostile listing, and of one that rented the honest listing. */
  readonly hostileRenters: readonly string[];
  readonly greedyRenter: string;
  /** The name of the only attack; undefined: all. */
  readonly only: string | undefined;
}

/** One kind of attack: how many attackers repeat it at the same time, with which pause. */
interface Attack {
  readonly name: string;
  readonly lanes: number;
  readonly pauseMs: number;
  readonly act: (lane: number, turn: number) => Promise<void>;
}

/** Answers by attack and status. 0: no answer within the time. */
export type Answers = Record<string, Record<number, number>>;

const GIVE_UP_MS = 30_000;
const UNPAID_WALLETS = 20;
const CROWD = 40;

type Send = (path: string, options?: Sent) => Promise<string>;
interface Sent {
  bearer?: string | undefined;
  headers?: Record<string, string>;
  body?: object | string | Uint8Array<ArrayBuffer>;
}

/** Makes the attackers' wallets and data. @returns a function that attacks until the signal, and then gives the answers */
export async function prepareAttacks(target: Target, signal: AbortSignal): Promise<() => Promise<Answers>> {
  setMaxListeners(0, signal);
  const answers: Answers = {};
  const addresses = new Map<string, Record<string, string>>();
  const send = async (name: string, path: string, { bearer, headers, body }: Sent = {}): Promise<string> => {
    const address = addresses.get(bearer ?? '') ?? elsewhere();
    if (bearer !== undefined) addresses.set(bearer, address);
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const deadline = createDeadline(GIVE_UP_MS, signal);
    let status = 0;
    let text = '';
    try {
      const response = await fetch(target.baseUrl + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...address,
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
        signal: deadline.signal,
      });
      ({ status } = response);
      text = await response.text();
    } catch {
      // The soak ended, the server took too long, or it cut the connection.
    } finally {
      deadline.clear();
    }
    const counts = (answers[name] ??= {});
    counts[status] = (counts[status] ?? 0) + 1;
    return text;
  };
  const attacks = await prepare(target, (name) => (path, options) => send(name, path, options));
  const chosen = attacks.filter(({ name }) => target.only === undefined || name === target.only);
  return async () => {
    await Promise.all(
      chosen.flatMap(({ lanes, pauseMs, act }) =>
        Array.from({ length: lanes }, async (_, lane) => {
          for (let turn = 0; !signal.aborted; turn += 1) {
            await act(lane, turn);
            await delay(pauseMs, undefined, { signal }).catch(() => undefined);
          }
        }),
      ),
    );
    return answers;
  };
}

async function prepare(target: Target, sender: (name: string) => Send): Promise<Attack[]> {
  const served = { dev: { base_url: target.baseUrl } };
  const newWallet = () => login(served, Keypair.generate(), elsewhere());
  const walletsOf = (count: number) => Promise.all(Array.from({ length: count }, newWallet));
  const [unpaid, crowd] = [await walletsOf(UNPAID_WALLETS), await walletsOf(CROWD)];
  const oneAddress = elsewhere();
  const run = (send: Send, bearer: string, fields: object) =>
    send('/v1/execute', { bearer, body: { agent_id: target.hostileListing, ...fields } });
  const renterOf = (lane: number) => pick(target.hostileRenters, lane);
  const archives = (['x', 'g', 'L', 'K'] as const).map(archiveWithLargeHeader);
  const largeRun = await run(sender('large output'), renterOf(0), { task: 'large' });
  const { run_id: largeRunId } = JSON.parse(largeRun) as { run_id: string };
  const mcpCall = (name: string, args: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
  const mcpHeaders = { accept: 'application/json, text/event-stream' };
  const bodies = HOSTILE_JSON.flatMap((json): [string, string][] => [
    ['/v1/execute', `{"agent_id":"${target.honestListing}","task":"x","input":${json}}`],
    ['/v1/agents', json],
    ['/v1/transactions', `{"action":${json}}`],
    ['/mcp', mcpCall('search_listings', json)],
    ['/mcp', mcpCall('run_agent', `{"agent_id":"${target.honestListing}","task":"x","input":${json}}`)],
  ]);
  const named = (
    name: string,
    lanes: number,
    pauseMs: number,
    act: (send: Send) => Attack['act'],
  ): Attack => ({
    name,
    lanes,
    pauseMs,
    act: act(sender(name)),
  });
  return [
    named('heavy drafts', 2, 500, (send) => async (_lane, turn) => {
      const bearer = await newWallet();
      for (const input_schema of [turn, turn + 1, turn + 2].map((at) => pick(HEAVY_SCHEMAS, at)))
        await send('/v1/agents', { bearer, body: draftOf(`${target.agentOrigin}/hostile`, input_schema) });
    }),
    named('wallets of one address', 4, 20, (send) => async (lane, turn) => {
      const bearer = pick(crowd, turn * 4 + lane);
      await send('/v1/listings?q=agent', { bearer, headers: oneAddress });
    }),
    named('hostile bodies', 2, 100, (send) => async (lane, turn) => {
      const [path, body] = pick(bodies, turn);
      await send(path, {
        bearer: pick(unpaid, turn * 2 + lane),
        body,
        ...(path === '/mcp' && { headers: mcpHeaders }),
      });
    }),
    named('hostile addresses', 1, 100, (send) => async (_lane, turn) => {
      await send(pick(HOSTILE_PATHS, turn));
    }),
    named('hostile answers', 4, 300, (send) => async (lane, turn) => {
      await run(send, renterOf(1 + (lane % 2)), { task: pick(HOSTILE_TASKS, turn + lane) });
    }),
    named('archives', 1, 500, (send) => async (_lane, turn) => {
      const bearer = renterOf(3);
      const headers = { 'content-type': 'application/gzip' };
      const stored = await send('/v1/files', { bearer, headers, body: new Uint8Array(pick(archives, turn)) });
      const { input_uri } = JSON.parse(stored || '{}') as { input_uri?: string };
      if (input_uri) await run(send, bearer, { task: 'large', input_uri });
    }),
    named('slow client documents', 20, 200, (send) => async () => {
      const id = encodeURIComponent(`${target.silentOrigin}/${randomUUID()}`);
      await send(
        `/dashboard/consent?response_type=code&client_id=${id}&redirect_uri=http%3A%2F%2F127.0.0.1%2F`,
      );
    }),
    named('slots of one wallet', 20, 100, (send) => async (lane, turn) => {
      const body = { agent_id: target.honestListing, task: slowTask(20_000, `greedy-${lane}-${turn}`) };
      await send('/v1/execute', { bearer: target.greedyRenter, body });
    }),
    named('outputs read again', 2, 200, (send) => async (lane) => {
      const bearer = renterOf(0);
      if (lane === 0) await send(`/v1/runs/${largeRunId}`, { bearer });
      else
        await send('/mcp', {
          bearer,
          headers: mcpHeaders,
          body: mcpCall('get_run', `{"run_id":"${largeRunId}"}`),
        });
    }),
  ];
}

/** A registration of a connected agent. */
export function draftOf(entrypointUrl: string, inputSchema: object) {
  return {
    name: `draft-${randomUUID().slice(0, 8)}`,
    category: 'research',
    description: 'A draft of a soak.',
    model: { provider: 'self_hosted', model: 'stand-in', endpoint_url: entrypointUrl },
    entrypoint_url: entrypointUrl,
    input_schema: inputSchema,
    output_schema: {},
    listing: { rental_model: 'per_query', price_lamports: 250_000, sample_output: ['A sample.'] },
  };
}

function pick<T>(values: readonly T[], at: number): T {
  return values[at % values.length] as T;
}
