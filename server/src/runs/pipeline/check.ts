import { REFUSAL_TEXT, RENTAL_TERMS } from '@agent-rental/contract';
import type { Sandbox, WarmPool } from '@agent-rental/sandbox';
import { findListingAddress, findPerQueryBalanceAddress } from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import type { Chain } from '../../chain/index.js';
import { accessStatus, readChainAccessState, type ChainAccessState } from '../../credentials/index.js';
import type { Allowance } from '../../spending/index.js';
import { ApiError } from '../../errors/api-error.js';
import type { Keys } from '../../platform/keys.js';
import { traced } from '../../platform/tracing/spans.js';
import { openPrivatePart, type PrivatePart } from '../../registration/index.js';
import type { ReservedCharge, Settlement } from '../../settlement/index.js';
import { requireAccess, requireRunning } from './access.js';
import type { Trials } from '../trials/trials.js';
import type { Task } from '../task.js';
import { step } from './steps.js';

/** The parts that checking uses. */
export interface CheckDeps {
  chain: Chain;
  settlement: Pick<Settlement, 'reserve' | 'simulate' | 'releaseReservation'>;
  /** Warm sandboxes of declarative agents. */
  runners: Pick<WarmPool, 'take'>;
  trials: Pick<Trials, 'take'>;
  keys: Keys;
}

/** `PriceChanged` of the program. */
const PRICE_CHANGED = 6104;

/** The oldest answer of the chain that a check accepts; a run that waited in the queue asks again. */
const FRESH_MS = 1_000;

/** A renter's access state on-chain, requested for before the check. */
export interface RequestedAccessState {
  readonly accessState: Promise<ChainAccessState | undefined>;
  /** In milliseconds of `performance.now`. */
  readonly askedAt: number;
}

/** The results of the check, for the later steps. */
export interface Checked {
  agent: PrivatePart;
  /** For declarative agents. */
  sandbox: Sandbox | undefined;
  /** For Per-Task runs that are paid; a credited run is not charged. */
  charge: ReservedCharge | undefined;
  /** Whether a credit pays for the run. */
  usesCredit: boolean;
}

/**
 * Step 4: checks on-chain that the renter may run the agent, and takes a warm sandbox meanwhile. If either fails, the sandbox is killed.
 *
 * @param requested the access state, where it was requested before
 * @throws ApiError 403 without access on-chain; SandboxUnavailableError.
 */
export const check = step(
  'check',
  async (
    deps: CheckDeps,
    task: Task,
    allowance: Allowance,
    { stop, requested }: { stop: AbortSignal; requested: RequestedAccessState | undefined },
  ): Promise<Checked> => {
    const { version } = task.listing;
    const agent = openPrivatePart(deps.keys, version.id, version.privatePart);
    const taking =
      agent.mode === 'declarative'
        ? traced('sandbox.take', {}, () => deps.runners.take({ signal: stop, owner: task.listing.id }))
        : Promise.resolve(undefined);
    const [sandbox, charge] = await Promise.allSettled([
      taking,
      checkOnChain(deps, task, allowance, requested),
    ]);
    if (sandbox.status === 'fulfilled' && charge.status === 'fulfilled') {
      return { agent, sandbox: sandbox.value, ...charge.value };
    }
    if (sandbox.status === 'fulfilled') await sandbox.value?.kill();
    throw charge.status === 'rejected' ? charge.reason : (sandbox as PromiseRejectedResult).reason;
  },
);

/** Reads the credential, or simulates the charge, which checks the same and more. */
async function checkOnChain(
  deps: CheckDeps,
  task: Task,
  allowance: Allowance,
  requested: RequestedAccessState | undefined,
): Promise<Pick<Checked, 'charge' | 'usesCredit'>> {
  const { listing, wallet } = task;
  const { chain } = deps;
  let credited = false;
  const isFresh = requested !== undefined && performance.now() - requested.askedAt <= FRESH_MS;
  const read = () => (isFresh ? requested.accessState : readChainAccessState(chain, listing.id, wallet));
  if (task.isTrial) {
    const accessState = await read();
    if (!accessState) throw new ApiError('listing_not_found', REFUSAL_TEXT.noSuchListing);
    requireRunning(accessState.listing);
    await deps.trials.take(task);
    return { charge: undefined, usesCredit: false };
  }
  if (RENTAL_TERMS[listing.rentalModel].chargesRuns) {
    const charge = await reserveAndSimulate(deps, task, allowance);
    if (charge !== 'credited') return { charge, usesCredit: false };
    credited = true;
  }
  const accessState = await read();
  if (accessState) requireRunning(accessState.listing);
  requireAccess(accessState ? accessStatus(accessState, new Date()) : 'not_found', listing, {
    credited,
    programId: chain.programId,
  });
  return { charge: undefined, usesCredit: credited };
}

/** How often a run is admitted at a new price before its caller is requested to try again. */
const MOST_PRICES = 3;

/**
 * Sets the price aside and simulates the charge, which checks the credential and more. When the program refuses because the
 * price has changed, the run is admitted again at the new one, under the caller's policy.
 *
 * @throws ApiError 403 without access on-chain, with too little balance, or at a price that the policy refuses.
 */
async function reserveAndSimulate(
  deps: CheckDeps,
  task: Task,
  allowance: Allowance,
): Promise<ReservedCharge | 'credited'> {
  const { runId, digest } = task;
  const call = { listingId: task.listing.id, digest };
  let priceLamports = task.listing.priceLamports;
  for (let prices = 1; ; prices += 1) {
    const charge = await reserveOrUseCredit(deps, task, priceLamports);
    if (charge === 'credited') return charge;
    await allowance.reserve({ id: runId, kind: 'run', lamports: priceLamports, call });
    try {
      await deps.settlement.simulate(charge);
      return charge;
    } catch (error) {
      if (!isPriceChange(error) || prices === MOST_PRICES) throw error;
      await Promise.all([deps.settlement.releaseReservation(runId), allowance.releaseReservation(runId)]);
      const accessState = await readChainAccessState(deps.chain, task.listing.id, task.wallet);
      if (accessState === undefined) throw error;
      priceLamports = accessState.listing.priceLamports;
    }
  }
}

function isPriceChange(error: unknown): boolean {
  return error instanceof ApiError && error.onChainError?.anchor_code === PRICE_CHANGED;
}

/** Uses the wallet's credit for the listing, or sets the price aside. */
function reserveOrUseCredit(
  { settlement, chain }: CheckDeps,
  { listing, wallet, runId }: Task,
  priceLamports: bigint,
): Promise<ReservedCharge | 'credited'> {
  const address = findListingAddress(listing.id, chain.programId).address;
  const balance = findPerQueryBalanceAddress(new PublicKey(wallet), address, chain.programId).address;
  return settlement.reserve({
    runId,
    wallet,
    listingId: listing.id,
    balanceAddress: balance.toBase58(),
    priceLamports,
  });
}
