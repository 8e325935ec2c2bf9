import { createServer } from 'node:net';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import {
  EmbeddedPostgresError,
  openStateFolder,
  requireMachine,
  StateFolderError,
  thisMachine,
} from './embedded/index.js';
import { ConfigError, readConfig, type Config } from './config/index.js';
import { environmentHelp } from './config/help.js';
import { StartError } from './platform/start-error.js';
import { createLogger, logDestination, type Logger } from './platform/logger.js';
import type { RunningServer } from './compose/running-server.js';

// V8 learns from long-lived objects at the start to allocate rows of query results among the old objects. There a
// dead row keeps its members alive through every minor collection. Copying them took a fifth of the time of `GET
// /v1/listings`.
setFlagsFromString('--no-allocation-site-pretenuring');

const usage = () => `The agent rental marketplace.

  npm start              everything on this machine: PostgreSQL, chain, sandbox, server, examples
  Ctrl-C                 stops it

Environment (docs/operations.md says more):

${environmentHelp()}`;

/** The person at the terminal can act on these errors; a stack would hide the remedy. */
function isPlain(error: unknown): error is Error {
  return (
    error instanceof ConfigError ||
    error instanceof StateFolderError ||
    error instanceof EmbeddedPostgresError ||
    error instanceof PortTakenError ||
    error instanceof StartError ||
    (error instanceof Error && /^(LocalChain|Sandbox)/.test(error.name))
  );
}

class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
}

const print = (text: string) => process.stdout.write(text);

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    print(usage());
    return;
  }
  const config = readConfig(process.env);
  if (config.databaseUrl === undefined) requireMachine(thisMachine());
  await requireFreePort(config.port, config.host, 'PORT');
  const folder = await openStateFolder(config.stateDir);
  const embedded = config.databaseUrl === undefined;
  const logger = embedded
    ? createLogger(config.logLevel, logDestination(join(folder.path, 'server.log')))
    : createLogger(config.logLevel);

  // However the process ends by itself: pino flushes only its asynchronous writes then.
  process.once('exit', () => logger.flush());

  let running: RunningServer | undefined;
  let stopping: Promise<void> | undefined;
  const stop = (code: number): Promise<void> => {
    process.exitCode = code;
    stopping ??= (async () => {
      await running?.stop();
      await folder.close();
    })();
    return stopping;
  };
  let signals = 0;
  const onSignal = () => {
    signals += 1;
    // A second signal ends the process without waiting for the drain.
    if (signals > 1) process.exit(130);
    print('\nStopping. Press Ctrl-C again to stop at once.\n');
    if (running) void stop(0).then(() => process.exit());
    else startupAborted = true;
  };
  let startupAborted = false;
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);

  try {
    running = await start(config, folder.path, logger);
  } catch (error) {
    await folder.close();
    throw error;
  }
  if (startupAborted) {
    await stop(0);
    process.exit();
  }
  // A parent that started us hears it as a message; a person reads it.
  if (process.send) process.send({ type: 'ready', base_url: running.baseUrl, routes: running.routes });
  else print(`\n${running.description}`);
  // A parent that started us and is gone wants us gone too.
  process.once('disconnect', onSignal);
  void running.failed.then(async (reason) => {
    if (stopping) return;
    logger.fatal(reason);
    process.stderr.write(`${reason}\n`);
    await stop(1);
    process.exit();
  });
}

/** Loads and starts the server. Loading takes a second, which neither `--help` nor a wrong environment has to wait for. */
async function start(config: Config, stateDir: string, logger: Logger): Promise<RunningServer> {
  if (config.databaseUrl === undefined) {
    const { startEmbedded } = await import('./embedded/start.js');
    return startEmbedded(config, stateDir, logger, step());
  }
  const { startProduction } = await import('./compose/production.js');
  return startProduction(config, stateDir, logger);
}

/** Prints each step with the time since the start. */
function step(): (text: string) => void {
  const startedAt = performance.now();
  return (text) => print(`  ${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${text}\n`);
}

/** Finds a taken port, and an address that is not this machine's, before anything is started. */
async function requireFreePort(port: number, host: string, variable: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
        reject(
          new PortTakenError(
            `HOST: ${host} is not an address of this machine. Set it to one, or to 0.0.0.0 for all of them.`,
          ),
        );
        return;
      }
      const reason =
        error.code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used (${error.code})`;
      reject(
        new PortTakenError(
          `Port ${port} on ${host} ${reason}. Stop that process, or set ${variable} to another port.`,
        ),
      );
    });
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}

main().catch((error: unknown) => {
  process.stderr.write(
    isPlain(error) ? `${error.message}\n` : `${(error as Error).stack ?? String(error)}\n`,
  );
  process.exit(1);
});
