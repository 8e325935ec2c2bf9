import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatSol, createClient, type RentalClient } from '@agent-rental/sdk';
import { WEBHOOK_SECRET_FILE } from '@agent-rental/sdk/creator';
import { createWalletFile, readWalletFile } from '@agent-rental/sdk/node';
import { createApiKey, rent, type RentTerms } from '@agent-rental/sdk/solana';
import { Connection } from '@solana/web3.js';
import type { CliEnvironment } from '../cli-environment.js';
import { createAgentProcess } from '../dev/agent-process.js';
import { keepLive } from '../dev/live-agent.js';
import { findMarketplace, startMarketplace } from '../dev/local-marketplace.js';
import { serveRenterProxy } from '../dev/renter-proxy.js';
import { CommandError, UsageError } from '../errors.js';
import { isLoopback, programIdOf, urlOf, type Connected } from '../marketplace.js';
import type { SharedOptions } from '../options.js';
import { servePracticeModel } from '../practice-model/serve-model.js';
import { AGENT_FILE, readAgentProject } from '../project/agent-file.js';
import { publishProject, updateProject } from './publish.js';
import { airdrop, connectionOf } from './wallet.js';

const SESSION_LAMPORTS = 100_000_000_000n;
const PRICE_IF_NONE = { rental_model: 'per_query', price_lamports: 1_000_000 } as const;
/** Number of runs that a session's balance pays. */
const PREPAID_RUNS = 1_000;
const RUNS_POLL_MS = 700;

interface DevOptions extends SharedOptions {
  url?: string;
  rpc?: string;
  marketplace?: string;
  port?: string;
}

/** The clean-up functions of the session. Its end calls the last entry first. */
type Ends = (() => unknown)[];

/**
 * `agent-rental dev`: publishes the agent on a marketplace of this machine, with separate wallets, rents it, and serves a
 * renter's API until Ctrl-C. Everything except the value of the SOL is real.
 */
export async function devCommand(options: DevOptions, environment: CliEnvironment): Promise<void> {
  const port = Number(options.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new UsageError('--port is no port.');
  const project = readAgentProject(environment.folder);
  const ends: Ends = [];
  let isReady = false;
  try {
    const session = await mkdtemp(join(tmpdir(), 'agent-rental-dev-'));
    ends.push(() => rm(session, { recursive: true, force: true }));
    const { entrypoint_url: entrypoint, model } = project.body as {
      entrypoint_url?: unknown;
      model?: object;
    };
    const endpoint = (Object(model) as { endpoint_url?: unknown }).endpoint_url;
    const own = [entrypoint, endpoint].filter(
      (url): url is string => typeof url === 'string' && URL.canParse(url) && isLoopback(url),
    );
    const place = await openMarketplace(options, environment, session, own, ends);
    const agent =
      typeof entrypoint === 'string' && own.includes(entrypoint)
        ? createAgentProcess(environment, entrypoint, {
            WEBHOOK_SECRET_FILE: join(session, WEBHOOK_SECRET_FILE),
          })
        : undefined;
    if (agent) {
      environment.err('Starting the agent');
      ends.push(() => agent.stop());
      await agent.restart();
    } else if (typeof endpoint === 'string' && own.includes(endpoint)) {
      await servePracticeModelAt(endpoint, environment, ends);
    }

    const [creator, renter] = await Promise.all(
      ['creator', 'renter'].map((name) => newParticipant(place, session, name, environment)),
    );
    if (!creator || !renter) throw new Error('A session has two wallets.');
    const published = await publishProject(creator, environment, { fallback: PRICE_IF_NONE });
    if (published.isPending)
      throw new CommandError('The operator of that marketplace reviews agents, so dev cannot use it.');
    const { id } = published;
    await rentForSession(renter, id, environment);
    const { key } = await createApiKey(renter.client, renter.signer, 'agent-rental dev');

    const live = keepLive(environment.folder, {
      onManifest: async () => {
        const changes = await updateProject(creator, id, { ...environment, err: () => undefined });
        if (changes.length > 0) environment.err(`Live: ${changes.join(', ')}`);
      },
      onProgram:
        agent &&
        (async () => {
          await agent.restart();
          environment.err('Live: the agent was restarted');
        }),
      onError: (error) =>
        environment.err(`Not live: ${error instanceof Error ? error.message : String(error)}`),
    });
    ends.push(() => live.close());
    const proxy = await serveRenterProxy(port, place.url, key, live.upToDate).catch((error: Error) => {
      throw new CommandError(`Port ${port} cannot be used: ${error.message}. Choose another with --port.`);
    });
    ends.push(() => proxy.close());
    tellReady(options, environment, proxy.url, id, project.body);
    isReady = true;
    await Promise.race([showRuns(renter.client, id, environment), aborted(environment.signal)]);
  } catch (error) {
    // After the start, Ctrl-C is the normal end of a session.
    if (!environment.signal.aborted || !isReady) throw error;
  } finally {
    if (environment.signal.aborted) environment.err('Ending');
    for (const end of ends.toReversed()) await end();
  }
}

/** The marketplace of a session. */
interface Place {
  url: string;
  /** RPC endpoint of its chain. Default: the endpoint from the environment. */
  rpcUrl: string | undefined;
  /** Its program. Default: the published program. */
  programId: string | undefined;
}

async function openMarketplace(
  options: DevOptions,
  environment: CliEnvironment,
  session: string,
  allowed: readonly string[],
  ends: Ends,
): Promise<Place> {
  if (options.url !== undefined) {
    const url = urlOf(options, environment);
    if (!isLoopback(url))
      throw new UsageError('--url must be a marketplace on this machine; elsewhere, use publish.');
    return { url, rpcUrl: undefined, programId: programIdOf(environment) };
  }
  const entry = findMarketplace(options.marketplace, environment.folder);
  environment.err('Starting a marketplace for this session');
  const started = await startMarketplace(
    entry,
    join(session, 'state'),
    [...new Set(allowed.map((url) => new URL(url).origin))],
    environment.signal,
  );
  ends.push(() => started.stop());
  return started;
}

/** Serves the practice model, unless something else listens at the address. */
async function servePracticeModelAt(endpoint: string, { err }: CliEnvironment, ends: Ends): Promise<void> {
  try {
    const model = await servePracticeModel(Number(new URL(endpoint).port));
    ends.push(() => model.close());
    err(`Serving the practice model, which only repeats its input, at ${endpoint}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
  }
}

async function newParticipant(
  { url, rpcUrl, programId }: Place,
  session: string,
  name: string,
  environment: CliEnvironment,
): Promise<Connected> {
  const file = join(session, `${name}.json`);
  const address = createWalletFile(file);
  const connection =
    rpcUrl === undefined ? connectionOf({}, environment) : new Connection(rpcUrl, 'finalized');
  await airdrop(connection, address, SESSION_LAMPORTS, environment.signal);
  const signer = readWalletFile(file);
  return { url, signer, client: createClient({ baseUrl: url, signer, programId }), records: session };
}

async function rentForSession(
  { client, signer }: Connected,
  id: string,
  environment: CliEnvironment,
): Promise<void> {
  environment.err('Renting it, with another wallet');
  const {
    rental_model: model,
    price_lamports: price,
    min_deposit_lamports: least,
  } = await client.getListing(id);
  const terms: Readonly<Record<typeof model, RentTerms>> = {
    one_time: {},
    subscription: { duration_seconds: 2_592_000 },
    per_query: {
      deposit_lamports: Math.max(least, Math.min(price * PREPAID_RUNS, Number(SESSION_LAMPORTS / 2n))),
    },
  };
  await rent(client, signer, id, terms[model], { signal: environment.signal, approve: () => true });
}

function tellReady(
  options: DevOptions,
  environment: CliEnvironment,
  url: string,
  id: string,
  body: Record<string, unknown>,
): void {
  const input = (Object(body['listing']) as { sample_input?: unknown }).sample_input;
  const request = { agent_id: id, task: 'Do it.', ...(input === undefined ? {} : { input }) };
  if (options.json === true) {
    environment.out(
      JSON.stringify({ mcp_url: `${url}/mcp`, execute_url: `${url}/v1/execute`, listing_id: id, request }),
    );
    return;
  }
  const quoted = JSON.stringify(request).replaceAll("'", `'\\''`);
  for (const line of [
    `${id} is rented, as any renter has it:`,
    `  MCP   ${url}/mcp`,
    `  HTTP  ${url}/v1/execute`,
    '',
    `curl -s ${url}/v1/execute -H 'Content-Type: application/json' \\`,
    `  -d '${quoted}'`,
    '',
    `Edits of ${AGENT_FILE} and its prompt are live in the next call. Ctrl-C ends it.`,
  ]) {
    environment.out(line);
  }
}

/** Prints each ended run with its cost in SOL of the local chain, which is worth nothing. */
async function showRuns(client: RentalClient, id: string, { signal, err }: CliEnvironment): Promise<void> {
  const told = new Set<string>();
  for (;;) {
    await sleep(RUNS_POLL_MS, undefined, { signal });
    const { runs } = await client.listRuns({ agent_id: id, limit: 20 }, { signal });
    for (const run of runs.toReversed()) {
      if (run.status === 'running' || told.has(run.run_id)) continue;
      told.add(run.run_id);
      const seconds = ((run.duration_ms ?? 0) / 1000).toFixed(1);
      err(`run ${run.run_id} ${run.status} in ${seconds} s, charged ${formatSol(run.cost_lamports)} (local)`);
    }
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
