import { readFile } from 'node:fs/promises';
import { formatSol } from '@agent-rental/contract';
import type { Protocol } from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { Connection, type PublicKey } from '@solana/web3.js';
import { createChain, type Chain } from '../../chain/index.js';
import { requireCluster } from '../../compose/index.js';
import type { Config } from '../../config/index.js';
import {
  describeDeploymentCost,
  formatFault,
  readDeployment,
  readProtocolAccount,
} from '../protocol/index.js';
import { boundedFetch } from './bounded-fetch.js';
import { check, notChecked, ok, problem, warning, type Checked, type Finding } from './check.js';

const RPC_TIMEOUT_MS = 8_000;
/** Slots are 0.2 to 0.4 s. */
const MOST_SLOTS_BEHIND = 50;
const WORST_SLOTS_BEHIND = 300;
const MOST_SECONDS_BEHIND = 30;
const WORST_SECONDS_BEHIND = 120;
/** A balance that is so many times its minimum lasts until an operator looks again. */
const COMFORTABLE_TIMES = 10n;
const UNREACHABLE = 'no RPC endpoint answers';

/** The chain as the doctor finds it. */
export interface ChainPlace {
  rpcUrls: readonly string[];
  programId: PublicKey;
  network: Config['network'];
  /** The keys that this server signs with; empty where that is not known here. */
  authorities(): Promise<readonly PublicKey[]>;
  reserveLamports: bigint;
}

/** Examines RPC endpoints, the program, its configuration, and who has to hold SOL. */
export async function checkChain(place: ChainPlace, now: () => number): Promise<Checked[]> {
  const chain = createChain(place.rpcUrls, place.programId);
  const rpc = await check('rpc', () => findEndpoints(chain, place, now));
  if (rpc.status === 'problem') {
    const names = ['program', 'protocol', 'authority', 'treasury'];
    return [rpc, ...names.map((name) => ({ name, ...notChecked(UNREACHABLE) }))];
  }
  const program = await check('program', () => compareProgram(chain));
  const protocol = await readProtocolAccount(chain).catch(() => undefined);
  const whenInitialized = (find: (account: Protocol) => Promise<Finding>) => () =>
    protocol ? find(protocol) : notChecked('the program is not initialised');
  return [
    rpc,
    program,
    await check('protocol', () => describeAccount(protocol)),
    await check(
      'authority',
      whenInitialized((account) => findAuthority(chain, account, place)),
    ),
    await check(
      'treasury',
      whenInitialized((account) => findTreasury(chain, account)),
    ),
  ];
}

async function findEndpoints(
  chain: Chain,
  { rpcUrls, network }: ChainPlace,
  now: () => number,
): Promise<Finding> {
  const heads = await Promise.all(rpcUrls.map((url) => headOf(url)));
  const lost = heads.filter(({ slot }) => slot === undefined).map(({ host }) => host);
  const advice = 'Correct SOLANA_RPC_URLS, or ask the provider.';
  if (lost.length === heads.length) return problem(`no answer from ${lost.join(', ')}`, advice);
  if (lost.length === 0) await requireCluster(chain, { network });
  const slots = heads.flatMap(({ slot }) => slot ?? []);
  const newest = Math.max(...slots);
  const slotsBehind = newest - Math.min(...slots);
  const times = heads.flatMap(({ time }) => time ?? []);
  const secondsBehind = times.length > 0 ? Math.round(now() / 1000 - Math.max(...times)) : 0;
  const detail = `${heads.length - lost.length} of ${heads.length} answer, slot ${newest}, ${slotsBehind} slots and ${secondsBehind} s behind`;
  if (slotsBehind > WORST_SLOTS_BEHIND || secondsBehind > WORST_SECONDS_BEHIND) {
    return problem(detail, `${advice} If the endpoint is level, this machine's clock is wrong.`);
  }
  if (lost.length > 0) return warning(`${detail}; no answer from ${lost.join(', ')}`, advice);
  if (slotsBehind > MOST_SLOTS_BEHIND || secondsBehind > MOST_SECONDS_BEHIND) return warning(detail, advice);
  return ok(detail);
}

/** The newest slot of an endpoint and its time; its host alone is shown, because an address may hold a key. */
async function headOf(url: string): Promise<{ host: string; slot?: number; time?: number | undefined }> {
  const { host } = new URL(url);
  const connection = new Connection(url, {
    commitment: 'finalized',
    disableRetryOnRateLimit: true,
    fetch: (input, init) => boundedFetch(input as string, RPC_TIMEOUT_MS, init),
  });
  try {
    const slot = await connection.getSlot();
    const time = await connection.getBlockTime(slot).catch(() => null);
    return { host, slot, time: time ?? undefined };
  } catch {
    return { host };
  }
}

async function compareProgram(chain: Chain): Promise<Finding> {
  const fault = formatFault(await readFile(marketplaceSoPath()));
  if (fault !== undefined) return problem(fault, 'Build it: npm run build:program.');
  const deployment = await readDeployment(chain);
  const address = chain.programId.toBase58();
  if (!deployment) {
    return problem(
      `no program is deployed at ${address}`,
      `Deploy it, or correct PROGRAM_ID and SOLANA_RPC_URLS. ${await describeDeploymentCost(chain)}`,
    );
  }
  if (!deployment.isCommitted) {
    return problem(
      `the program at ${address} is another one than this release's (sha256 ${deployment.sha256})`,
      'Upgrade the program, or run the release that belongs to it.',
    );
  }
  return ok(`${address} is this release's, sha256 ${deployment.sha256}`);
}

function describeAccount(protocol: Protocol | undefined): Finding {
  if (!protocol) return problem('the program is not initialised', 'npm run operator -- initialize --help');
  const fee = `fee ${protocol.feeBps} basis points`;
  if (protocol.paused)
    return warning(`paused: nothing can be bought; ${fee}`, 'npm run operator -- unpause --help');
  return ok(`initialised; ${fee}`);
}

async function findAuthority(chain: Chain, protocol: Protocol, place: ChainPlace): Promise<Finding> {
  const accepted = [protocol.authority, ...(protocol.nextAuthority ? [protocol.nextAuthority] : [])];
  const own = await place.authorities();
  const signing =
    own.length === 0 ? protocol.authority : own.find((key) => accepted.some((one) => one.equals(key)));
  if (!signing) {
    return problem(
      `the program accepts ${accepted.map(String).join(', ')}, and this server has ${own.map(String).join(', ')}`,
      'Name the keypair of the former in AUTHORITY_KEYPAIR, or rotate-authority.',
    );
  }
  const least = place.reserveLamports + (await chain.minimumBalance(0));
  return findBalance(chain, signing, least, 'Per-Task runs are refused below');
}

const findTreasury = async (chain: Chain, { treasury }: Protocol): Promise<Finding> =>
  findBalance(chain, treasury, await chain.minimumBalance(0), 'charges and sales are refused below');

async function findBalance(chain: Chain, address: PublicKey, least: bigint, what: string): Promise<Finding> {
  const { accounts } = await chain.getAccounts([address]);
  const lamports = BigInt(accounts[0]?.lamports ?? 0);
  const detail = `${address.toBase58()} holds ${formatSol(lamports)}; ${what} ${formatSol(least)}`;
  if (lamports < least) return problem(detail, `Send it ${formatSol(least * COMFORTABLE_TIMES - lamports)}.`);
  if (lamports < least * COMFORTABLE_TIMES) {
    return warning(detail, `Send it ${formatSol(least * COMFORTABLE_TIMES - lamports)}, to last.`);
  }
  return ok(detail);
}
