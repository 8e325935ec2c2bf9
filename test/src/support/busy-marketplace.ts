import { createHash } from 'node:crypto';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { findRunningPostgres } from '@agent-rental/server/testing';
import { createClient } from '@agent-rental/sdk';
import { keypairSigner, publish, rent } from '@agent-rental/sdk/solana';
import { Pool } from 'pg';
import { inspect, type Inspector } from './inspector.js';
import { newStateDir, removeStateDir, startMarketplace, type OwnMarketplace } from './marketplace.js';
import { descendants } from './processes.js';
import { newRenter, type Renter } from './renter.js';
import { startSlowAgents, type SlowAgents } from './slow-agents.js';

/** Price of a run of the agents here, in lamports. */
export const RUN_PRICE = 250_000;

export type AgentKind = 'declarative' | 'connected';

/** A marketplace of one's own that works hard, and can be looked into: its database, its processes, its heap. */
export interface BusyMarketplace {
  readonly server: OwnMarketplace;
  readonly agents: SlowAgents;
  readonly database: Pool;
  readonly inspector: Inspector;
  /** Puts an agent on sale; gives its listing's id. */
  publish(kind: AgentKind, name: string, fields?: Record<string, unknown>): Promise<string>;
  /** A wallet that has rented these listings, with money for so many runs of each. */
  renter(listingIds: string[], runs: number): Promise<Renter>;
  /** What is there now. */
  census(): Promise<Census>;
  close(): Promise<void>;
}

/** Everything that a run may leave behind, counted from `/proc`, the process and the database. */
export interface Census {
  /** Processes of the server and its children, the database's apart. */
  processes: number;
  /** Connections between the server and the agents or its callers. */
  connections: number;
  pipes: number;
  timers: number;
  seats: number;
  inLine: number;
  runsRunning: number;
  chargesReserved: number;
}

/** Starts it with both kinds of agents behind it. */
export async function startBusyMarketplace(
  env: Record<string, string> = {},
  onAgentRequest?: (request: IncomingMessage, body: string) => void,
): Promise<BusyMarketplace> {
  const agents = await startSlowAgents(onAgentRequest);
  const stateDir = await newStateDir();
  const server = await startMarketplace(stateDir, {
    MODEL_BASE_URL: agents.modelUrl,
    MODEL_NAME: 'stand-in',
    NODE_OPTIONS: '--inspect=127.0.0.1:0',
    RATE_LIMIT_PER_MINUTE: '1000000',
    EXECUTIONS_PER_MINUTE: '1000000',
    ...env,
  });
  const database = new Pool({ connectionString: findRunningPostgres(stateDir), max: 4 });
  // Whatever ends it early is told by the server's own end.
  database.on('error', () => undefined);
  const inspector = await inspect(server.output, server.process);
  const creator = await newRenter(server);
  const signer = keypairSigner(creator.wallet);
  const client = createClient({ baseUrl: server.dev.base_url, signer });

  return {
    server,
    agents,
    database,
    inspector,
    async publish(kind, name, fields = {}) {
      const url = kind === 'connected' ? agents.agentUrl : agents.modelUrl;
      const { job_id } = await client.registerAgent({
        name,
        category: 'research',
        description: 'Takes its time.',
        model: { provider: 'self_hosted', model: 'stand-in', endpoint_url: url },
        ...(kind === 'connected' ? { entrypoint_url: url } : { system_prompt: 'You answer.' }),
        input_schema: {},
        output_schema: { type: 'string' },
        listing: { rental_model: 'per_query', price_lamports: RUN_PRICE },
        ...fields,
      });
      const listingId = await until(async () => {
        const job = await client.getJob(job_id);
        if (job.status === 'failed') throw new Error(JSON.stringify(job.error));
        return job.result?.listing_id;
      });
      await publish(client, signer, listingId);
      return listingId;
    },
    async renter(listingIds, runs) {
      const renter = await newRenter(server);
      const own = keypairSigner(renter.wallet);
      const renting = createClient({ baseUrl: server.dev.base_url, signer: own });
      for (const id of listingIds) await rent(renting, own, id, { deposit_lamports: runs * RUN_PRICE });
      return renter;
    },
    async census() {
      const pid = server.process.pid ?? 0;
      const count = async (query: string) =>
        Number((await database.query<{ count: string }>(query)).rows[0]?.count);
      const [children, descriptors, resources] = await Promise.all([
        descendants(pid),
        openDescriptors(pid, [agents.port, Number(new URL(server.dev.base_url).port)]),
        inspector.activeResources(),
      ]);
      return {
        processes: children.filter(({ command }) => !command.startsWith('postgres')).length,
        ...descriptors,
        timers: resources['Timeout'] ?? 0,
        seats: await count('select count(*) from seats'),
        inLine: await count('select count(*) from seat_line'),
        runsRunning: await count(`select count(*) from runs where status = 'running'`),
        chargesReserved: await count(`select count(*) from charges where state = 'reserved'`),
      };
    },
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

/** Pipes of a process, and its TCP connections that have one of these ports at either end. */
async function openDescriptors(
  pid: number,
  ports: number[],
): Promise<{ pipes: number; connections: number }> {
  const names = await readdir(`/proc/${pid}/fd`);
  const targets = await Promise.all(
    names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => undefined)),
  );
  const inodes = new Set(targets.map((target) => /^socket:\[(\d+)\]$/.exec(target ?? '')?.[1]));
  const rows = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).split('\n').slice(1);
  const connections = rows.filter((row) => {
    const fields = row.trim().split(/\s+/);
    const [local, remote] = [fields[1], fields[2]].map((end) =>
      Number.parseInt(end?.split(':')[1] ?? '', 16),
    );
    const established = fields[3] === '01';
    return (
      established && inodes.has(fields[9]) && (ports.includes(local ?? 0) || ports.includes(remote ?? 0))
    );
  });
  return {
    pipes: targets.filter((target) => target?.startsWith('pipe:')).length,
    connections: connections.length,
  };
}

/** Asks again until there is an answer; for scripts, which have no test runner's `waitUntil`. */
export async function until<T>(ask: () => Promise<T | undefined | false>, timeoutMs = 60_000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`Nothing came within ${timeoutMs} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The census once it does not shrink any more, or is what it was before. */
export async function settled(market: BusyMarketplace, before?: Census): Promise<Census> {
  let last = await market.census();
  let since = performance.now();
  const isBack = () =>
    before && Object.entries(before).every(([what, was]) => last[what as keyof Census] <= was);
  await until(async () => {
    const now = await market.census();
    if (JSON.stringify(now) !== JSON.stringify(last)) since = performance.now();
    last = now;
    return isBack() || performance.now() - since > (before ? 15_000 : 3_000);
  }, 120_000);
  return last;
}

/** An answer, as far as it came. */
export interface SentRun {
  /** Undefined when the connection broke first. */
  status: number | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

/** One request to run a task, on a connection of its own, which can be broken at any moment. */
export interface Sending {
  readonly answer: Promise<SentRun>;
  /** Breaks the connection. */
  leave(): void;
}

/** Sends a run. */
export function sendRun(
  { server }: BusyMarketplace,
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
