import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { rent, type RentTerms } from '@agent-rental/sdk/solana';
import { sellAgent } from '@agent-rental/test/support/agents/market-agents';
import { startSlowAgents, type SlowAgents } from '@agent-rental/test/support/agents/slow-agents';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '@agent-rental/test/support/marketplace';
import { inspect } from '@agent-rental/test/support/processes/inspector';
import { newParticipant } from '@agent-rental/test/support/participant';
import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
import { probeLoop, readBlocks } from '../sandbox-soak/loop-probe.js';
import type { Log } from '../run-battery.js';
import type { Answers, Target } from './attacks.js';
import { newHonestCallers } from './honest.js';

interface SoakOptions {
  quietMs: number;
  attackMs: number;
  /** The name of the only attack. Default: all attacks. */
  only?: string | undefined;
  bounds: {
    /** The largest allowed ratio of each honest p95 to its quiet value. */
    slowerTimes: number;
    /** The longest allowed hold of the event loop. */
    blockedMs: number;
    /** The largest allowed resident memory of the server. */
    residentMb: number;
  };
  log: Log;
}

const ATTACKERS = fileURLToPath(new URL('../../dist/strangers/attackers.js', import.meta.url));
const HONEST_CALLERS = 4;
const PRICE_LAMPORTS = 250_000;
const HOSTILE_RENTERS = 4;
const SETUP_AT_ONCE = 3;
const RUNS_OF_WALLET = 2_000;
const WARM_UP_MS = 5_000;
/** Within the 60 registrations a day of a wallet that published nothing, for a soak of ten minutes. */
const REGISTER_EVERY_MS = 16_000;

/** Measures honest callers of a marketplace while it is quiet, and then while strangers attack it in mixed ways. */
export async function runStrangersSoak(options: SoakOptions) {
  const attackers = fork(ATTACKERS);
  const ended = once(attackers, 'exit').then(([code]): never => {
    throw new Error(`The attackers ended with ${code}.`);
  });
  ended.catch(() => undefined);
  const told = async <T>() => (await Promise.race([once(attackers, 'message'), ended]))[0] as T;
  try {
    const origins = await told<Origins>();
    // So that the soak measures the server and not the machine: the attackers' own work gives way.
    setPriority(attackers.pid as number, constants.priority.PRIORITY_BELOW_NORMAL);
    return await soak(options, origins, {
      async start(target) {
        attackers.send(target);
        await told();
      },
      async stop() {
        attackers.send('stop');
        return told<Answers>();
      },
    });
  } finally {
    attackers.kill('SIGKILL');
  }
}

type Origins = Pick<Target, 'agentOrigin' | 'silentOrigin'>;

interface Attackers {
  start(target: Omit<Target, keyof Origins>): Promise<void>;
  stop(): Promise<Answers>;
}

async function soak(options: SoakOptions, origins: Origins, attackers: Attackers) {
  const agents = await startSlowAgents();
  const stateDir = await newStateDir();
  try {
    const server = await startMarketplace(stateDir, {
      ALLOW_LOOPBACK: [agents.agentUrl, origins.agentOrigin, origins.silentOrigin].join(),
      EXAMPLES: 'off',
      // As in the image, in a pod with the chart's limit of 2 GiB: Node takes half of it for the heap.
      NODE_OPTIONS: '--inspect=127.0.0.1:0 --max-old-space-size=1024',
      MALLOC_ARENA_MAX: '2',
      TRUSTED_PROXIES: '127.0.0.1',
      // The limits of production.
      RATE_LIMIT_PER_MINUTE: '100',
      EXECUTIONS_PER_MINUTE: '60',
    });
    try {
      return await attackMarket(server, agents, { options, origins, attackers });
    } finally {
      await server.stop();
    }
  } finally {
    await agents.close();
    await removeStateDir(stateDir);
  }
}

async function attackMarket(
  server: OwnMarketplace,
  { agentUrl }: SlowAgents,
  { options, origins, attackers }: { options: SoakOptions; origins: Origins; attackers: Attackers },
) {
  const { quietMs, attackMs, only, bounds, log } = options;
  const baseUrl = server.dev.base_url;
  const inspector = await inspect(server.output, server.process);
  try {
    const creator = await newParticipant(server);
    const { id: honestListing } = await sellAgent(creator, 'connected', agentUrl, {
      name: 'honest',
      listing: { price_lamports: PRICE_LAMPORTS },
    });
    const { id: hostileListing } = await sellAgent(creator, 'connected', `${origins.agentOrigin}/honest`, {
      name: 'hostile',
      output_schema: {},
      listing: { rental_model: 'one_time', price_lamports: PRICE_LAMPORTS },
    });
    const renterOf = async (listingId: string, terms: RentTerms): Promise<string> => {
      const { client, signer, token } = await newParticipant(server);
      await rent(client, signer, listingId, terms);
      return token;
    };
    const [greedyRenter = '', ...tokens] = await inParallel(Array(HONEST_CALLERS + 1), SETUP_AT_ONCE, () =>
      renterOf(honestListing, { deposit_lamports: RUNS_OF_WALLET * PRICE_LAMPORTS }),
    );
    const hostileRenters = await inParallel(Array(HOSTILE_RENTERS), SETUP_AT_ONCE, () =>
      renterOf(hostileListing, { max_price_lamports: PRICE_LAMPORTS }),
    );
    const honest = newHonestCallers({
      baseUrl,
      listing: honestListing,
      agentUrl,
      tokens,
      registerEveryMs: REGISTER_EVERY_MS,
    });
    await probeLoop(inspector);
    const measure = async (ms: number) => {
      await readBlocks(inspector);
      const measured = await honest.forMs(ms);
      const report = {
        ...measured,
        loop: await readBlocks(inspector),
        top_resident_mb: await topResidentMb(server.process.pid),
      };
      log(JSON.stringify(report));
      return report;
    };
    await honest.forMs(Math.min(WARM_UP_MS, quietMs));
    const quiet = await measure(quietMs);
    await attackers.start({ baseUrl, honestListing, hostileListing, hostileRenters, greedyRenter, only });
    const attacked = await measure(attackMs);
    const answers = await attackers.stop();

    const broken = [...new Set([...quiet.failures, ...attacked.failures])].slice(0, 20);
    const ratios: Record<string, number> = {};
    for (const kind of ['run', 'search', 'registration'] as const) {
      const [before, during] = [quiet.times[kind].p95, attacked.times[kind].p95];
      const ratio = Math.round((100 * during) / before) / 100;
      ratios[kind] = ratio;
      if (!(ratio <= bounds.slowerTimes)) broken.push(`${kind}: ${during} ms at p95, quiet ${before} ms`);
    }
    const held = Math.round(attacked.loop.longest_ms);
    if (held > bounds.blockedMs) broken.push(`the event loop was held for ${held} ms`);
    if (attacked.top_resident_mb > bounds.residentMb)
      broken.push(`the server took ${attacked.top_resident_mb} MB`);
    for (const [name, counts] of Object.entries(answers))
      if (counts[500]) broken.push(`${counts[500]} answers 500: ${name}`);
    return { ratios, quiet, attacked, answers, broken };
  } finally {
    inspector.close();
  }
}

/** The most memory that a process had at once since its start (Linux). */
async function topResidentMb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024);
}
