import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Keypair } from '@solana/web3.js';
import { copyTemplate } from './state-template.js';
import { WITHOUT_LIMITS } from './without-limits.js';

const MAIN = fileURLToPath(new URL('../../../server/dist/main.js', import.meta.url));

/** The ready file of the embedded server. */
export interface Dev {
  base_url: string;
  mcp_url: string;
  rpc_url: string;
  ws_url: string;
  program_id: string;
  wallets: { creator: string; renter: string };
  api_key_file: string;
  listings: {
    id: string;
    title: string;
    rental_model: 'one_time' | 'subscription' | 'per_query';
    sample_task: string;
    sample_input_file: string;
    sample_request_file: string;
  }[];
}

/** A server that can be called. */
export interface Served {
  readonly dev: Pick<Dev, 'base_url'>;
}

/** A running marketplace, as a script finds it by its ready file. */
export interface Marketplace extends Served {
  readonly dev: Dev;
  readonly stateDir: string;
  readonly apiKey: string;
  wallet(name: 'creator' | 'renter'): Promise<Keypair>;
  /** The listing of one rental model. */
  listing(model: Dev['listings'][number]['rental_model']): Dev['listings'][number];
  /** A complete execute request for that listing. */
  request(model: Dev['listings'][number]['rental_model']): Promise<Record<string, unknown>>;
}

/** A route of a running server, as its router has it. */
export interface Route {
  method: string;
  path: string;
}

declare module 'vitest' {
  /** The values that the shared marketplace of the end-to-end tests provides. */
  interface ProvidedContext {
    stateDir: string;
    /** Every route of the running server. */
    routes: Route[];
    /** Ports of this machine that it calls: `takePort` gives each to one test. */
    ports: number[];
  }
}

/** A server whose process the test owns. */
export interface OwnServer extends Served {
  readonly process: ChildProcess;
  readonly routes: Route[];
  /** Its output so far. */
  output(): string;
  /** Ends it at once, as a crash does. Its state stays. */
  kill(): Promise<void>;
  /** Ends it as Ctrl-C does. Its state stays. Gives the exit code. */
  stop(): Promise<number | null>;
}

/** A marketplace whose process the test owns. */
export type OwnMarketplace = Marketplace & OwnServer;

/** Makes an empty state folder, with a space in its name. */
export function newStateDir(): Promise<string> {
  return mkdtemp(join(process.env['TEST_FOLDER'] ?? tmpdir(), 'agent-rental test '));
}

/** Removes a state folder whose server has ended. */
export function removeStateDir(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true });
}

/** The environment of a server without examples, whose agents may call a model on this machine. */
export function withoutExamples(...urls: string[]): Record<string, string> {
  return { EXAMPLES: 'off', ALLOW_LOOPBACK: urls.map((url) => new URL(url).origin).join(',') };
}

/** Starts a server without waiting for it, on free ports. */
export function spawnServer(stateDir: string, env: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      STATE_DIR: stateDir,
      PORT: '0',
      LOCAL_CHAIN_PORT: '0',
      // With tower a charge is final after 3 s, and not after 13 s.
      LOCAL_CHAIN_SLOT_MS: '100',
      LOCAL_CHAIN_CONSENSUS: process.env['LOCAL_CHAIN_CONSENSUS'] ?? 'alpenglow',
      // The tests make more requests in a minute than a renter does.
      ...WITHOUT_LIMITS,
      // Starting more of them takes processor time from the tests.
      SANDBOX_POOL_SIZE: '2',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
}

/** Starts the server as `npm start` does, on free ports, and waits until it is ready. An empty folder gets a template's state. */
export async function startMarketplace(
  stateDir: string,
  env: Record<string, string> = {},
): Promise<OwnMarketplace> {
  await copyTemplate(stateDir, env, async (folder) => {
    const { LOCAL_CHAIN_CONSENSUS: consensus } = env;
    const settings = consensus === undefined ? {} : { LOCAL_CHAIN_CONSENSUS: consensus };
    await (await startServer(folder, { EXAMPLES: 'off', ...settings })).stop();
  });
  return { ...(await startServer(stateDir, env)), ...(await attach(stateDir)) };
}

/** Starts a server on the parts that the environment names, and waits until it is ready. */
export async function startServer(stateDir: string, env: Record<string, string>): Promise<OwnServer> {
  const child = spawnServer(stateDir, env);
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const ready = await new Promise<{ base_url: string; routes: Route[] }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { base_url: string; routes: Route[] }));
    void exited.then((code) => reject(new Error(`The server ended with ${code}:\n${output}`)));
  });
  return {
    dev: { base_url: ready.base_url },
    process: child,
    routes: ready.routes,
    output: () => output,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
    stop: async () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

/** Finds a running marketplace by its state folder. */
export async function attach(stateDir: string): Promise<Marketplace> {
  const dev = JSON.parse(await readFile(join(stateDir, 'dev.json'), 'utf8')) as Dev;
  const listing: Marketplace['listing'] = (model) => {
    const found = dev.listings.find((candidate) => candidate.rental_model === model);
    if (!found) throw new Error(`No ${model} listing among the examples.`);
    return found;
  };
  return {
    dev,
    stateDir,
    apiKey: dev.api_key_file ? (await readFile(dev.api_key_file, 'utf8')).trim() : '',
    wallet: (name) => readKeypair(dev.wallets[name]),
    listing,
    request: async (model) =>
      JSON.parse(await readFile(listing(model).sample_request_file, 'utf8')) as Record<string, unknown>,
  };
}

/** Reads a keypair file of Solana's tools. */
export async function readKeypair(path: string): Promise<Keypair> {
  return Keypair.fromSecretKey(Uint8Array.from(JSON.parse(await readFile(path, 'utf8')) as number[]));
}
