/**
 * A production server in a separate process. It loads its code at once. It starts when its parent sends the environment, so
 * that a next server can be ready. SIGTERM drains it. Unlike production it may call the agents' addresses on this machine
 * that its parent names. The first argument is the folder of the server's compiled code, where it is not this tree's.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as configModule from '@agent-rental/server/config';
import type * as productionModule from '@agent-rental/server/production';

/** The parent's message. */
export interface StartMessage {
  env: Readonly<Record<string, string>>;
  agentOrigin: string;
}

const folder = process.argv[2];
const load = (path: string): Promise<unknown> => import(pathToFileURL(join(folder ?? '', path)).href);
const { readConfig } = (await (folder === undefined
  ? import('@agent-rental/server/config')
  : load('config.js'))) as typeof configModule;
const { createLogger, startProduction } = (await (folder === undefined
  ? import('@agent-rental/server/production')
  : load('compose/production.js'))) as typeof productionModule;

process.on('disconnect', () => process.exit());

async function start({ env, agentOrigin }: StartMessage): Promise<void> {
  const config = readConfig(env);
  const running = await startProduction(config, config.stateDir, createLogger(config.logLevel), [
    agentOrigin,
  ]);
  process.once('SIGTERM', () => {
    running.stop().then(
      () => process.exit(),
      () => process.exit(1),
    );
  });
  process.send?.({ type: 'ready', baseUrl: running.baseUrl });
}

process.once('message', (message: StartMessage) => {
  start(message).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  });
});
process.send?.({ type: 'loaded' });
