import { fork, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { health } from '@agent-rental/contract';
import { startLocalChain } from '@agent-rental/local-chain';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { environment, type RehearsalConfig } from '../../config/index.js';
import { StartError } from '../../platform/start-error.js';
import { initializeLocalProtocol } from '../initialize-protocol.js';
import { openEmbeddedKeys } from '../keypairs.js';
import { openStateFolder } from '../state-folder/state-folder.js';
import { findRedis, openDatabase } from './own-parts.js';
import { serverSettings, shellSettings } from './settings.js';
import { describeRehearsal } from './welcome.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const SERVER = fileURLToPath(new URL('../../main.js', import.meta.url));
const MOST_OUTPUT = 20_000;

/** The production configuration, up on this machine. */
export interface Rehearsal {
  /** The text for the person at the terminal. */
  readonly description: string;
  /** Resolves with the reason when a part ends by itself. */
  readonly failed: Promise<string>;
  /** Ends all processes, and removes the database, the keys and the folder. */
  stop(): Promise<void>;
}

/**
 * Brings up a marketplace of production's parts on this machine, with new keys and worthless money. If a step fails, takes
 * the started parts down again.
 *
 * @param env the environment of the command, for variables that are none of the server's
 */
export async function startRehearsal(
  config: RehearsalConfig,
  env: NodeJS.ProcessEnv,
  onStep: (text: string) => void,
): Promise<Rehearsal> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const step of stops.splice(0).toReversed()) {
      await step().catch((error: Error) => onStep(`A part did not stop cleanly: ${error.message}`));
    }
  };
  const begin = async <Part>(
    part: Promise<Part>,
    end: (started: Part) => Promise<unknown>,
  ): Promise<Part> => {
    const started = await part;
    stops.push(() => end(started));
    return started;
  };
  try {
    const folder = await begin(mkdtemp(join(await realpath(tmpdir()), 'agent-rental-rehearsal-')), (path) =>
      rm(path, { recursive: true, force: true }),
    );
    await begin(openStateFolder(folder), (opened) => opened.close());
    const keys = await openEmbeddedKeys(folder);
    onStep('Starting the local chain, and looking for PostgreSQL and Redis');
    const beginning = [
      begin(
        startLocalChain({
          stateDir: join(folder, 'chain'),
          rpcPort: config.localChainPort,
          programs: [
            {
              programId: MARKETPLACE_PROGRAM_ID.toBase58(),
              soPath: marketplaceSoPath(),
              upgradeAuthority: keys.upgradeAuthority.publicKey.toBase58(),
            },
          ],
        }),
        (chain) => chain.close(),
      ),
      begin(openDatabase(config.postgresUrl, folder, onStep), (database) => database.close()),
      findRedis(config.redisUrl),
    ] as const;
    // Waits for all before it reports a failure, because a part that starts meanwhile has to be stopped, too.
    await Promise.allSettled(beginning);
    const [chain, database, redis] = await Promise.all(beginning);
    onStep('Initialising the program');
    await initializeLocalProtocol(chain.rpcUrl, chain.wsUrl, keys, MARKETPLACE_PROGRAM_ID);

    onStep('Starting the server');
    const settings = serverSettings({
      folder,
      keys,
      rpcUrl: chain.rpcUrl,
      databaseUrl: database.url ?? '',
      redisUrl: redis.url,
      port: config.port,
    });
    const foreign = Object.entries(env).filter(([name]) => !Object.hasOwn(environment.shape, name));
    const logFile = join(folder, 'server.log');
    const server = await begin(
      startServer({ ...Object.fromEntries(foreign), ...settings }, logFile),
      ({ child, ended }) => {
        child.kill('SIGTERM');
        return ended;
      },
    );
    const { baseUrl } = server;
    const settingsFile = join(folder, 'env');
    const shown = { ...settings, PORT: new URL(baseUrl).port };
    await writeFile(settingsFile, shellSettings(shown, { folder, baseUrl, root: ROOT }), { mode: 0o600 });
    return {
      description: describeRehearsal({
        baseUrl,
        rpcUrl: chain.rpcUrl,
        database: database.description,
        redis: redis.description,
        isolation: await isolationOf(baseUrl),
        keys,
        folder,
        settingsFile,
        logFile,
      }),
      failed: Promise.race([
        server.ended.then((output) => `The server ended. ${output}`),
        chain.closed.then(({ reason }) => `The local chain ended: ${reason}`),
      ]),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts the server as `npm start` does. @throws StartError with its words if it ends instead */
async function startServer(
  env: Record<string, string | undefined>,
  logFile: string,
): Promise<{ child: ChildProcess; baseUrl: string; ended: Promise<string> }> {
  const log = openSync(logFile, 'a', 0o600);
  const child = fork(SERVER, {
    env,
    execArgv: [],
    stdio: ['ignore', log, 'pipe', 'ipc'],
    // Ctrl-C in the terminal is for the rehearsal, which then stops it: a second signal would cut its drain off.
    detached: true,
  });
  closeSync(log);
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-MOST_OUTPUT)));
  const ended = new Promise<string>((resolve) => child.once('close', () => resolve(output.trim())));
  const ready = new Promise<string>((resolve) =>
    child.once('message', (told: { base_url: string }) => resolve(told.base_url)),
  );
  const first = await Promise.race([
    ready.then((baseUrl) => ({ baseUrl })),
    ended.then((told) => ({ told })),
  ]);
  if ('told' in first) throw new StartError(first.told || 'The server ended without a word.');
  return { child, baseUrl: first.baseUrl, ended };
}

async function isolationOf(baseUrl: string): Promise<string> {
  const { sandbox } = health.parse(await (await fetch(`${baseUrl}/health`)).json());
  const { isolation, driver } = sandbox;
  return isolation === 'runtime'
    ? `${isolation} (${driver}): on a network of real money the server refuses to start below "kernel"`
    : `${isolation} (${driver})`;
}
