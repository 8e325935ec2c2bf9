import { createHash } from 'node:crypto';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { findRunningPostgres } from '@agent-rental/server/testing';
import { rent } from '@agent-rental/sdk/solana';
import { Pool } from 'pg';
import { leftBehind, takeCensus, type Census } from './processes/census.js';
import { inspect, type Inspector } from './processes/inspector.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
  withoutExamples,
} from './marketplace.js';
import { newParticipant } from './participant.js';
import type { Renter } from './renter.js';
import { until } from './timing/until.js';
import { sellAgent, type AgentKind } from './agents/market-agents.js';
import { startSlowAgents, type SlowAgents } from './agents/slow-agents.js';

/** Price of a run of the agents here, in lamports. */
export const RUN_PRICE = 250_000;

/** A separate marketplace under load, with access to its database, its processes and its heap. */
export interface BusyMarketplace {
  readonly server: OwnMarketplace;
  readonly agents: SlowAgents;
  readonly database: Pool;
  readonly databaseUrl: string;
  readonly inspector: Inspector;
  /** Puts an agent on sale; gives its listing's id. */
  publish(kind: AgentKind, name: string, fields?: Record<string, unknown>): Promise<string>;
  /** A wallet that has rented these listings, with money for so many runs of each. */
  renter(listingIds: string[], runs: number): Promise<Renter>;
  /** The resources in use now. */
  census(): Promise<Census>;
  /** Open connections that runs were sent on. */
  readonly callers: Set<Socket>;
  close(): Promise<void>;
}

/** Starts it with both kinds of agents behind it. */
export async function startBusyMarketplace(
  env: Record<string, string> = {},
  onAgentRequest?: (request: IncomingMessage, body: string) => void,
): Promise<BusyMarketplace> {
  const agents = await startSlowAgents(onAgentRequest);
  const stateDir = await newStateDir();
  const server = await startMarketplace(stateDir, {
    ...withoutExamples(agents.modelUrl),
    NODE_OPTIONS: '--inspect=127.0.0.1:0',
    ...env,
  });
  const databaseUrl = findRunningPostgres(stateDir);
  if (databaseUrl === undefined) throw new Error('The marketplace runs without its PostgreSQL.');
  const database = new Pool({ connectionString: databaseUrl, max: 4 });
  // The server's end reports an early end of the database.
  database.on('error', () => undefined);
  const inspector = await inspect(server.output, server.process);
  const callers = new Set<Socket>();
  const creator = await newParticipant(server);

  return {
    server,
    agents,
    database,
    databaseUrl,
    inspector,
    async publish(kind, name, fields = {}) {
      const url = kind === 'connected' ? agents.agentUrl : agents.modelUrl;
      const listing = { price_lamports: RUN_PRICE, ...Object(fields['listing']) };
      return (await sellAgent(creator, kind, url, { name, ...fields, listing })).id;
    },
    async renter(listingIds, runs) {
      const renter = await newParticipant(server);
      for (const id of listingIds)
        await rent(renter.client, renter.signer, id, { deposit_lamports: runs * RUN_PRICE });
      return renter;
    },
    census: () =>
      takeCensus({
        pid: server.process.pid ?? 0,
        database,
        inspector,
        agentPort: agents.port,
        serverPort: Number(new URL(server.dev.base_url).port),
        callers,
      }),
    callers,
    close: async () => {
      // A fatal error waits for the inspector to leave before it is told.
      inspector.close();
      await database.end().catch(() => undefined);
      const code = await server.stop();
      if (code !== 0) process.stderr.write(`The server ended with ${code}:\n${server.output()}\n`);
      await removeStateDir(stateDir);
      await agents.close();
    },
  };
}

/** The longest time until a run's resources are free again, on a machine that is busy with other work. */
const SETTLE_MS = 60_000;
/** How long the census must stay unchanged before it counts as the census without runs. */
const QUIET_MS = 2_000;

/** The census while nothing runs and every warm sandbox is ready. */
export async function censusAtRest(market: BusyMarketplace): Promise<Census> {
  let last = await market.census();
  let since = performance.now();
  await until(async () => {
    const now = await market.census();
    if (now.processes !== last.processes || now.pipes !== last.pipes) since = performance.now();
    last = now;
    const { slots, inLine, runsRunning, chargesReserved, agentConnections, callerConnections } = now;
    const isBusy =
      slots + inLine + runsRunning + chargesReserved + agentConnections + callerConnections > 0 ||
      !(await hasWarmSandboxes(market));
    return !isBusy && performance.now() - since > QUIET_MS;
  }, SETTLE_MS);
  return last;
}

/** Whether every pool of sandboxes is full, and none is in use, on its way in or on its way out. */
async function hasWarmSandboxes({ server }: BusyMarketplace): Promise<boolean> {
  const metrics = await (await fetch(`${server.dev.base_url}/metrics`)).text();
  const counts = [...metrics.matchAll(/^agent_rental_sandboxes\{.*state="(\w+)"\} (\d+)$/gm)];
  return counts.length > 0 && counts.every(([, state, count]) => state === 'idle' || count === '0');
}

/** The census once nothing is left behind since `before`, or at the end of the waiting time. */
export async function censusAfter(market: BusyMarketplace, before: Census): Promise<Census> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const now = await market.census();
    if (leftBehind(before, now).length === 0 || performance.now() > deadline) return now;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** An answer, as far as it was received. */
export interface SentRun {
  /** Undefined when the connection broke first. */
  status: number | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

/** One request to run a task, on a separate connection, which can be broken at any moment. */
export interface Sending {
  readonly answer: Promise<SentRun>;
  /** Breaks the connection. */
  leave(): void;
}

/** Sends a run. */
export function sendRun(
  { server, callers }: BusyMarketplace,
  path: '/v1/execute' | '/v1/execute/stream',
  { token }: Renter,
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
): Sending {
  let request: ClientRequest | undefined;
  const answer = new Promise<SentRun>((resolve) => {
    const told: SentRun = { status: undefined, headers: {}, body: '' };
    request = httpRequest(
      server.dev.base_url + path,
      {
        method: 'POST',
        agent: false,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      },
      (response) => {
        told.headers = response.headers;
        response.on('data', (chunk: Buffer) => (told.body += chunk.toString()));
        response.on('end', () => resolve({ ...told, status: response.statusCode }));
        response.on('error', () => resolve(told));
      },
    );
    request.on('socket', (socket) => {
      callers.add(socket);
      socket.once('close', () => callers.delete(socket));
    });
    request.on('error', () => resolve(told));
    request.end(JSON.stringify(body));
  });
  return { answer, leave: () => request?.destroy() };
}

/** The digest under which a run's row has its request. */
export function requestDigest(body: Record<string, unknown>): string {
  // As the server has it: defaults filled in, keys in order.
  const entries = Object.entries({ priority: 'standard', ...body }).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return createHash('sha256')
    .update(JSON.stringify(Object.fromEntries(entries)))
    .digest('hex');
}
