import { join } from 'node:path';
import { startLocalChain } from '@agent-rental/local-chain';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { PublicKey } from '@solana/web3.js';
import { createApp } from '../compose/app.js';
import {
  createChain,
  createKeypairSigner,
  createProgramHistory,
  createRotatingSigner,
  createTestFunds,
} from '../chain/index.js';
import type { Config } from '../config/index.js';
import { openDatabase } from '../database/connection.js';
import { watchDiskSpace } from '../platform/disk-space.js';
import { deriveKeys } from '../platform/keys.js';
import type { Logger } from '../platform/logger.js';
import { openSandboxes } from '../compose/sandboxes/open-driver.js';
import type { RunningServer } from '../compose/running-server.js';
import { removeDevFile, writeDevFile, type DevFile } from './dev-file.js';
import { EXAMPLES_ENTRY, startExamples } from './examples/examples.js';
import { initializeLocalProtocol } from './initialize-protocol.js';
import { openEmbeddedKeys } from './keypairs.js';
import { keepEmbeddedPostgres } from './postgres/keep-running.js';
import { describeRunning } from './welcome.js';

const INDEX_POLL_MS = 800;

/**
 * Starts the whole marketplace on this machine: PostgreSQL, the chain, the sandbox, the server and the examples. If a
 * step fails, stops the started parts again, in reverse.
 */
export async function startEmbedded(
  config: Config,
  stateDir: string,
  logger: Logger,
  onStep: (text: string) => void,
  examplesEntry = EXAMPLES_ENTRY,
): Promise<RunningServer> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const step of stops.splice(0).toReversed()) {
      await step().catch((err: unknown) => logger.error({ err }, 'a part did not stop cleanly'));
    }
  };
  let reportFailure: (reason: string) => void = () => undefined;
  const failed = new Promise<string>((resolve) => (reportFailure = resolve));
  try {
    await removeDevFile(stateDir);
    const keys = await openEmbeddedKeys(stateDir);
    const programId = config.programId ? new PublicKey(config.programId) : MARKETPLACE_PROGRAM_ID;

    /** Records a started part for the stop, even if other parts fail. */
    const begin = async <Part>(part: Promise<Part>, end: (started: Part) => Promise<void>): Promise<Part> => {
      const started = await part;
      stops.push(() => end(started));
      return started;
    };
    onStep('Starting the sandbox, PostgreSQL and the local chain');
    // Together: each waits for processes and the disk.
    const beginning = [
      begin(openSandboxes(config.sandbox, stateDir, logger), (driver) => driver.close()),
      begin(keepEmbeddedPostgres({ stateDir, onStep, logger }), (postgres) => postgres.stop()),
      begin(
        startLocalChain({
          stateDir: join(stateDir, 'chain'),
          rpcPort: config.localChainPort,
          consensus: config.localChainConsensus,
          ...(config.localChainSlotMs === undefined ? {} : { slotTimeMs: config.localChainSlotMs }),
          programs: [
            {
              programId: programId.toBase58(),
              soPath: marketplaceSoPath(),
              upgradeAuthority: keys.upgradeAuthority.publicKey.toBase58(),
            },
          ],
          onLog: ({ level, msg, ...fields }) => logger[level](fields, msg),
        }),
        (chain) => chain.close(),
      ),
    ] as const;
    // Waits for all before it reports a failure, because a part that starts meanwhile has to be stopped, too.
    await Promise.allSettled(beginning);
    const [driver, postgres, localChain] = await Promise.all(beginning);
    void postgres.exited.then(({ reason }) => reportFailure(`PostgreSQL ended: ${reason}`));
    void localChain.closed.then(({ reason }) => reportFailure(`The local chain ended: ${reason}`));
    await initializeLocalProtocol(localChain.rpcUrl, localChain.wsUrl, keys, programId);

    onStep('Starting the server');
    const database = openDatabase(postgres.url, (err) =>
      logger.warn({ err }, 'an idle database connection broke'),
    );
    stops.push(() => database.close());
    const allowedOrigins = new Set(config.allowedLoopback);
    const diskSpace = await watchDiskSpace(stateDir, config.diskReserveBytes, logger);
    stops.push(() => diskSpace.stop());
    const app = await createApp({
      config,
      logger,
      database,
      chain: createChain(localChain.rpcUrl, programId),
      publicRpcUrl: localChain.rpcUrl,
      history: createProgramHistory(localChain.rpcUrl, programId),
      authority: createRotatingSigner(createKeypairSigner(keys.authority)),
      keys: deriveKeys(keys.masterKey, config.sealingKeys),
      driver,
      contentFolder: join(stateDir, 'content'),
      allowedOrigins,
      alone: true,
      diskSpace,
      testFunds: createTestFunds(localChain.rpcUrl),
      indexPollMs: INDEX_POLL_MS,
    });
    stops.push(() => app.close());
    const baseUrl = await app.http.listen({ host: config.host, port: config.port });

    const dev: DevFile = {
      base_url: baseUrl,
      mcp_url: `${baseUrl}/mcp`,
      rpc_url: localChain.rpcUrl,
      ws_url: localChain.wsUrl,
      program_id: programId.toBase58(),
      wallets: null,
      api_key_file: null,
      listings: [],
    };
    if (config.examples) {
      const examples = await startExamples({
        entry: examplesEntry,
        baseUrl,
        rpcUrl: localChain.rpcUrl,
        programId: programId.toBase58(),
        stateDir,
        modelSettings: config.exampleModel,
        onStep,
        allowOrigins: (origins) => origins.forEach((origin) => allowedOrigins.add(origin)),
      });
      stops.push(() => examples.stop());
      void examples.exited.then(() =>
        logger.warn('the examples ended; their connected agent is out of reach'),
      );
      // The examples serve the agents of running runs, so they stop after these runs.
      stops.push(() => app.drain());
      const { wallets, listings, api_key_file } = examples.ready;
      Object.assign(dev, { wallets, listings, api_key_file });
    }
    await writeDevFile(stateDir, dev);
    stops.push(() => removeDevFile(stateDir));
    const description = describeRunning(dev, stateDir, driver, config);
    return { failed, stop, baseUrl, description, routes: app.http.routes };
  } catch (error) {
    await stop();
    throw error;
  }
}
