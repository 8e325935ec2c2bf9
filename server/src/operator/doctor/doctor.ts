import { resolve } from 'node:path';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import { openAuthority } from '../../compose/index.js';
import { ConfigError, readConfig, type Config } from '../../config/index.js';
import { findRunningPostgres, readDevFile } from '../../embedded/index.js';
import { checkChain, type ChainPlace } from './chain-checks.js';
import { problem, type Checked } from './check.js';
import { checkDatabase } from './database-checks.js';
import { checkService } from './service-checks.js';
import { checkTill } from './till-check.js';

/** Examines every part; each within a bounded time. @param now the time of this machine, in milliseconds */
export async function examine(env: NodeJS.ProcessEnv, now: () => number = Date.now): Promise<Checked[]> {
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [{ name: 'configuration', ...problem(error.message.replaceAll(/\s+/g, ' '), '') }];
  }
  const stateDir = resolve(config.stateDir);
  const isEmbedded = config.databaseUrl === undefined;
  const dev = isEmbedded ? await readDevFile(stateDir) : undefined;
  const databaseUrl = config.databaseUrl ?? findEmbedded(stateDir);
  const rpcUrls = config.solanaRpcUrls ?? (dev ? [dev.rpc_url] : []);
  const programId = dev?.program_id ?? config.programId ?? MARKETPLACE_PROGRAM_ID.toBase58();
  const place: ChainPlace = {
    rpcUrls,
    programId: new PublicKey(programId),
    network: config.network,
    authorities: async () => (isEmbedded ? [] : [(await openAuthority(config)).publicKey]),
    reserveLamports: config.authorityReserveLamports,
  };
  const url = config.publicUrl ?? dev?.base_url ?? `http://${config.host}:${config.port}`;
  const { usdc } = config;
  const [database, chain, till, service] = await Promise.all([
    checkDatabase(databaseUrl, { ...config, stateDir }, now),
    rpcUrls.length === 0 ? [] : checkChain(place, now),
    usdc && databaseUrl !== undefined && rpcUrls.length > 0 ? checkTill(place, usdc, databaseUrl) : undefined,
    checkService({ ...config, stateDir }, { url, programId }),
  ]);
  return [...database, ...chain, ...(till ? [till] : []), ...service];
}

function findEmbedded(stateDir: string): string | undefined {
  try {
    return findRunningPostgres(stateDir);
  } catch {
    return undefined;
  }
}

/** A line for each finding, and a summary. */
export function describeFindings(findings: readonly Checked[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length)) + 2;
  const lines = findings.map(
    ({ status, name, detail, advice }) =>
      `${status.padEnd(9)}${name.padEnd(width)}${detail}${advice === '' ? '' : ` -> ${advice}`}`,
  );
  const count = (status: Checked['status']) => findings.filter((finding) => finding.status === status).length;
  return [...lines, `${count('problem')} problems, ${count('warning')} warnings.`].join('\n');
}

/** Whether a finding is a problem. */
export const hasProblem = (findings: readonly Checked[]): boolean =>
  findings.some(({ status }) => status === 'problem');
