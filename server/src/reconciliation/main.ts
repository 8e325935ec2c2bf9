import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import { createChain, createProgramHistory } from '../chain/index.js';
import { ConfigError, readReconciliationConfig } from '../config/index.js';
import { createCredentialRepository, createIndexer } from '../credentials/index.js';
import { openDatabase } from '../database/connection.js';
import { EmbeddedPostgresError, findRunningPostgres, readDevFile } from '../embedded/index.js';
import { createLogger } from '../platform/logger.js';
import { createChargeStates } from '../settlement/index.js';
import { describeReport, toJson } from './describe-report.js';
import { reconcileWithChain } from './reconcile.js';

const USAGE = `Compares the database with the chain, both ways, and makes the safe repairs.

  npm run reconcile                        accounts with the index, and each balance with its charges
  npm run reconcile -- --every-transaction reads the transactions of all balances, not only where sums differ
  npm run reconcile -- --dry-run           repairs nothing
  npm run reconcile -- --json              prints one JSON object

Works on DATABASE_URL and SOLANA_RPC_URLS (PROGRAM_ID where it is not the published one), or on the server that
runs on the state folder (STATE_DIR, default .agent-rental). Exit code: 0 when nothing is left, 1 when a difference is left
that an operator has to look into, 2 when the comparison could not be made.
`;

/** The comparison cannot be made. The message names the reason and the remedy. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

async function main(): Promise<number> {
  const options = readOptions();
  if (options.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { databaseUrl, rpcUrls, programId } = await findParts();
  const logger = createLogger('silent');
  const database = openDatabase(databaseUrl, () => undefined);
  const interrupt = new AbortController();
  process.once('SIGINT', () => interrupt.abort(new UsageError('Interrupted. Repairs so far stay.')));
  try {
    const chain = createChain(rpcUrls, programId);
    const history = createProgramHistory(rpcUrls, programId);
    const indexer = createIndexer(chain, createCredentialRepository(database.db), logger, 1_000, { history });
    const states = createChargeStates(database.db, { unfinalizedCapLamports: 0n });
    const report = await reconcileWithChain(
      { chain, history, indexer, states, db: database.db, logger },
      {
        everyTransaction: options['every-transaction'],
        dryRun: options['dry-run'],
        signal: interrupt.signal,
        onProgress: progress(),
      },
    );
    process.stdout.write(options.json ? `${toJson(report)}\n` : describeReport(report, options['dry-run']));
    return report.open.length > 0 ? 1 : 0;
  } finally {
    await database.close();
  }
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        json: { type: 'boolean', default: false },
        'dry-run': { type: 'boolean', default: false },
        'every-transaction': { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message} See npm run reconcile -- --help.`);
  }
}

/** The database and the chain of the environment, or of the server on the state folder. */
async function findParts(): Promise<{
  databaseUrl: string;
  rpcUrls: readonly string[];
  programId: PublicKey;
}> {
  const config = readReconciliationConfig(process.env);
  const { databaseUrl, rpcUrls, programId } = config;
  if (databaseUrl !== undefined && rpcUrls !== undefined) {
    return {
      databaseUrl,
      rpcUrls,
      programId: programId === undefined ? MARKETPLACE_PROGRAM_ID : new PublicKey(programId),
    };
  }
  if (databaseUrl !== undefined || rpcUrls !== undefined) {
    throw new UsageError('DATABASE_URL and SOLANA_RPC_URLS belong together: set both, or neither.');
  }
  const stateDir = resolve(config.stateDir);
  const url = findRunningPostgres(stateDir);
  const dev = await readDevFile(stateDir);
  if (url === undefined || dev === undefined) {
    throw new UsageError(
      `No server runs on the state folder ${stateDir}. Start it with npm start, name another with STATE_DIR, or set ` +
        'DATABASE_URL and SOLANA_RPC_URLS.',
    );
  }
  return { databaseUrl: url, rpcUrls: [dev.rpc_url], programId: new PublicKey(dev.program_id) };
}

/** Says once a second how far the comparison is, where a person watches. */
function progress(): (progress: { accounts: number; balances: number }) => void {
  let told = performance.now();
  return ({ accounts, balances }) => {
    if (!process.stderr.isTTY || performance.now() - told < 1_000) return;
    told = performance.now();
    process.stderr.write(`compared ${accounts} accounts, ${balances} balances\n`);
  };
}

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    const isPlain =
      error instanceof UsageError || error instanceof ConfigError || error instanceof EmbeddedPostgresError;
    const { message, cause } = error as Error;
    const reason = cause instanceof Error ? ` (${cause.message})` : '';
    process.stderr.write(
      isPlain ? `${message}\n` : `The comparison could not be made: ${message}${reason}\n`,
    );
    process.exitCode = 2;
  },
);
