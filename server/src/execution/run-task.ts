import type { ExecuteBody } from '@agent-rental/contract';
import { SandboxUnavailableError, type Sandbox } from '@agent-rental/sandbox';
import { findListingAddress, findPerQueryBalanceAddress } from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import type { Chain } from '../chain/index.js';
import { accessStatus, readChainStanding, type CredentialService } from '../credentials/index.js';
import type { Allowance } from '../identity/index.js';
import type { FileService } from '../files/index.js';
import type { ListingService } from '../listings/index.js';
import { ApiError, internalError } from '../platform/api-error.js';
import type { Drain } from '../platform/drain.js';
import type { Keys } from '../platform/keys.js';
import type { Logger } from '../platform/logger.js';
import { openPrivatePart, type PrivatePart } from '../registration/index.js';
import { ChargePendingError, type ChargeRow, type SentCharge, type Settlement } from '../settlement/index.js';
import { requireAccess, requireRunning, requireValidInput } from './access.js';
import { AgentUnreachableError, type AgentOutcome } from './agent-outcome.js';
import type { Attendance } from './attendance.js';
import type { Answer, Caller, Callers } from './callers.js';
import type { ConnectedAgents } from './connected-agent.js';
import type { DeclarativeAgents } from './declarative-agent.js';
import type { LiveRuns } from './live-runs.js';
import { OutputGate, type OutputSink } from './output-gate.js';
import { parseTask, withInput, type Task } from './parse.js';
import type { Repeats } from './repeats.js';
import type { RunChanges } from './run-changes.js';
import type { FinishedRun, RunRepository } from './run-repository.js';
import { RunStoppedError } from './run-stopped.js';
import type { Seats } from './seats.js';

export interface RunTaskDeps {
  listings: ListingService;
  credentials: CredentialService;
  chain: Chain;
  settlement: Settlement;
  runs: RunRepository;
  files: FileService;
  repeats: Repeats;
  attendance: Attendance;
  callers: Callers;
  live: LiveRuns;
  changes: RunChanges;
  seats: Seats;
  declarative: DeclarativeAgents;
  connected: ConnectedAgents;
  keys: Keys;
  drain: Drain;
}

/** One request to run a task. */
export interface TaskRequest {
  wallet: string;
  body: ExecuteBody;
  idempotencyKey: string | undefined;
  /** What the caller may spend. */
  allowance: Allowance;
  /** Counts the execution against the credential's limit. */
  countExecution(listingId: string, runsPerMinute: number | null): Promise<void>;
  /** Gets the output as it is made; absent for a caller that only wants the end. */
  sink?: OutputSink;
  caller: Caller;
  /** Called when the request takes over an undelivered run; absent for a caller that does not want to. */
  onAdopted?: (() => void) | undefined;
  /** Knows the request's id. */
  logger: Pick<Logger, 'info' | 'warn'>;
}

/** What step 4 leaves for the later ones. */
interface Checked {
  agent: PrivatePart;
  /** For declarative agents. */
  sandbox: Sandbox | undefined;
  /** For Per-Task runs that are paid; a credited run is not charged. */
  charge: ChargeRow | undefined;
}

/**
 * Runs a task for a caller: the seven steps from a request to its answer. A failed run is a value; whatever could
 * not be served is an ApiError, and then nothing was charged or it is made good. From step 3 on the run does not
 * depend on the request any more: it may go on when the caller has left, and is stopped by `cancel` from anywhere.
 */
export async function runTask(deps: RunTaskDeps, request: TaskRequest): Promise<Answer> {
  const { caller, sink } = request;
  const task = await parse(deps, request);
  for (;;) {
    // A repeat gets its answer whatever has become of the rental since: it was paid for.
    const earlier = (await deps.repeats.find(task)) ?? (await adopt(deps, task, request));
    if (earlier === undefined) {
      const begun = await begin(deps, task, request);
      const run = { runId: task.runId, agentId: task.listing.id };
      if (begun) return deps.callers.attend(run, caller, begun.work);
    } else {
      const answer = await deps.callers.join(earlier, task.wallet, caller);
      if (answer) return deliver(answer, sink);
    }
  }
}

/** Lets a run begin to work by itself; undefined when another request under its key came first. */
async function begin(
  deps: RunTaskDeps,
  task: Task,
  request: TaskRequest,
): Promise<{ work: Promise<FinishedRun> } | undefined> {
  const leave = deps.drain.enter();
  let work: Promise<FinishedRun> | undefined;
  try {
    const admitted = await admit(deps, task, request.allowance);
    if (!(await deps.repeats.begin(admitted))) return undefined;
    work = deps.live.start(admitted.runId, (stop) => carryOut(deps, admitted, request, stop));
    return { work };
  } finally {
    if (work) work.then(leave, leave);
    else leave();
  }
}

/** Steps 3 to 7, by themselves. */
async function carryOut(
  deps: RunTaskDeps,
  task: Task,
  request: TaskRequest,
  stop: AbortSignal,
): Promise<FinishedRun> {
  const startedAt = performance.now();
  let charge: SentCharge | undefined;
  try {
    await seat(deps, task);
    const checked = await check(deps, task, request.allowance, stop);
    const gate = new OutputGate(request.sink, task.runId);
    charge = await settle(deps, checked, gate, stop);
    const outcome = await run(deps, task, checked, gate, { stop, logger: request.logger });
    return await release(deps, task, charge, gate, outcome, startedAt);
  } catch (error) {
    throw await undo(deps, task, request, charge, error);
  } finally {
    await deps.seats.free(task.runId);
    await deps.changes.announce(task.runId);
  }
}

/** An equal run of this wallet whose answer reached nobody. */
async function adopt(deps: RunTaskDeps, task: Task, request: TaskRequest): Promise<string | undefined> {
  if (!request.onAdopted) return undefined;
  const runId = await deps.attendance.adopt(task);
  if (runId !== undefined) request.onAdopted();
  return runId;
}

/** 1. What is asked, of which listing, how often. */
async function parse(deps: RunTaskDeps, request: TaskRequest): Promise<Task> {
  const listing = await deps.listings.find(request.body.agent_id);
  const task = parseTask(request.wallet, request.body, request.idempotencyKey, listing);
  await request.countExecution(listing.id, listing.runsPerMinute);
  return task;
}

/** 2. Who may: by the index, so that a stranger is turned away before anything is spent on it. */
async function admit(deps: RunTaskDeps, task: Task, allowance: Allowance): Promise<Task> {
  const { listing } = task;
  allowance.requireListing(listing.id);
  requireRunning(listing.status);
  const { status, agreedPriceLamports } = await deps.credentials.indexedStatus(task.wallet, listing.id);
  const credited = status === 'low_balance' && (await deps.settlement.hasCredit(task.wallet, listing.id));
  requireAccess(status, listing, {
    credited,
    agreedPriceLamports,
    programId: deps.chain.programId,
  });
  const ready = await withInput(task, (inputUri) => deps.files.readInput(inputUri, task.wallet));
  requireValidInput(ready.input, listing.version.inputSchema);
  return ready;
}

/** 3. One of the listing's seats. */
async function seat(deps: RunTaskDeps, task: Task): Promise<void> {
  await deps.seats.take(task.listing.id, task.runId, task.timeoutSeconds);
}

/** 4. Whether the chain agrees, while a warm sandbox is taken. */
async function check(
  deps: RunTaskDeps,
  task: Task,
  allowance: Allowance,
  stop: AbortSignal,
): Promise<Checked> {
  const { version } = task.listing;
  const agent = openPrivatePart(deps.keys, version.id, version.privatePart);
  const taking =
    agent.mode === 'declarative' ? deps.declarative.takeSandbox(stop) : Promise.resolve(undefined);
  const [sandbox, charge] = await Promise.allSettled([taking, checkOnChain(deps, task, allowance)]);
  if (sandbox.status === 'fulfilled' && charge.status === 'fulfilled') {
    return { agent, sandbox: sandbox.value, charge: charge.value };
  }
  if (sandbox.status === 'fulfilled') await sandbox.value?.kill();
  throw charge.status === 'rejected' ? charge.reason : (sandbox as PromiseRejectedResult).reason;
}

/** Reads the credential, or simulates the charge, which checks the same and more. */
async function checkOnChain(
  deps: RunTaskDeps,
  task: Task,
  allowance: Allowance,
): Promise<ChargeRow | undefined> {
  const { listing, wallet, runId } = task;
  const { settlement, chain } = deps;
  const perTask = listing.rentalModel === 'per_query';
  const credited = perTask && (await settlement.takeCredit(wallet, listing.id, runId));
  if (perTask && !credited) {
    await allowance.reserve({ id: runId, kind: 'run', lamports: listing.priceLamports });
    const address = findListingAddress(listing.id, chain.programId).address;
    const balance = findPerQueryBalanceAddress(new PublicKey(wallet), address, chain.programId).address;
    const charge = await settlement.reserve({
      runId,
      wallet,
      listingId: listing.id,
      balanceAddress: balance.toBase58(),
      priceLamports: listing.priceLamports,
    });
    await settlement.simulate(charge);
    return charge;
  }
  const standing = await readChainStanding(chain, listing.id, wallet);
  if (standing) requireRunning(standing.listing.status);
  requireAccess(standing ? accessStatus(standing, new Date()) : 'not_found', listing, {
    credited,
    programId: chain.programId,
  });
  return undefined;
}

/** 5. Per-Task: sign, write down, send; the run does not wait for it, its output does. */
async function settle(
  deps: RunTaskDeps,
  checked: Checked,
  gate: OutputGate,
  stop: AbortSignal,
): Promise<SentCharge | undefined> {
  try {
    // The last moment at which stopping costs nothing.
    stop.throwIfAborted();
    if (!checked.charge) {
      gate.open();
      return undefined;
    }
    const charge = await deps.settlement.charge(checked.charge);
    charge.confirmed.then(
      () => gate.open(),
      () => undefined,
    );
    return charge;
  } catch (error) {
    await checked.sandbox?.kill();
    throw error;
  }
}

/** 6. The agent works, within its time. */
async function run(
  deps: RunTaskDeps,
  task: Task,
  { agent, sandbox }: Checked,
  gate: OutputGate,
  { stop, logger }: { stop: AbortSignal; logger: TaskRequest['logger'] },
): Promise<AgentOutcome> {
  const timeout = AbortSignal.timeout(task.timeoutSeconds * 1000);
  const { timeUp } = deps.drain;
  const signal = AbortSignal.any([timeout, stop, timeUp]);
  try {
    const outcome =
      agent.mode === 'connected'
        ? await deps.connected.run(task, agent, signal)
        : await deps.declarative.run(task, agent, sandbox as Sandbox, {
            signal,
            logger,
            onText: (text) => gate.push(text),
          });
    if (outcome.status === 'completed' || !signal.aborted) return outcome;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  // Not the agent's failure: the run is made good.
  timeUp.throwIfAborted();
  return {
    status: 'failed',
    output:
      signal.reason instanceof RunStoppedError
        ? signal.reason.output
        : `The agent did not finish within ${task.timeoutSeconds} s.`,
  };
}

/** 7. Paid first; then the rest of the output leaves, and the run is on record. */
async function release(
  deps: RunTaskDeps,
  task: Task,
  charge: SentCharge | undefined,
  gate: OutputGate,
  outcome: AgentOutcome,
  startedAt: number,
): Promise<FinishedRun> {
  const finished: FinishedRun = {
    runId: task.runId,
    agentId: task.listing.id,
    status: outcome.status,
    output: outcome.output,
    costLamports: charge?.priceLamports ?? 0n,
    durationMs: Math.round(performance.now() - startedAt),
  };
  try {
    await charge?.confirmed;
  } catch (error) {
    // The result is there and waits for its charge; whoever asks for the run by its id or key gets it then.
    if (error instanceof ChargePendingError) await holdResult(deps, finished);
    throw error;
  }
  gate.open();
  await deps.runs.finish(finished);
  if (outcome.status === 'completed' && gate.text === '') gate.push(asText(outcome.output));
  return finished;
}

/** Keeps a result for when its charge is confirmed. */
async function holdResult(deps: RunTaskDeps, finished: FinishedRun): Promise<void> {
  await deps.runs.hold(finished);
  // Confirmed while it was being written down: nobody else would notice.
  if (await deps.settlement.isConfirmed(finished.runId)) await deps.runs.finishHeld(finished.runId);
}

/** Takes back what a run that could not be served has begun; gives the error for its caller. */
async function undo(
  deps: RunTaskDeps,
  task: Task,
  { allowance, logger }: Pick<TaskRequest, 'allowance' | 'logger'>,
  charge: SentCharge | undefined,
  error: unknown,
): Promise<ApiError> {
  if (error instanceof ChargePendingError) return error;
  const answer = toAnswer(logger, task, charge, error);
  if (charge) {
    // The run is marked first: should this process end now, the credit follows when the charge is reconciled.
    await deps.runs.markUndelivered(task.runId, answer);
    charge.confirmed
      .then(() => deps.settlement.credit(task.runId))
      .catch((err: unknown) =>
        logger.info({ err, run_id: task.runId }, 'a credit is left to reconciliation'),
      );
  } else {
    // The run's row goes, so whatever refers to it goes first.
    await deps.seats.free(task.runId);
    await deps.settlement.release(task.runId);
    await deps.settlement.returnCredit(task.runId);
    await allowance.release(task.runId);
    await deps.runs.discard(task.runId, answer);
  }
  return answer;
}

/** What the caller of a run that could not be served is told. */
function toAnswer(
  logger: TaskRequest['logger'],
  task: Task,
  charge: SentCharge | undefined,
  error: unknown,
): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof SandboxUnavailableError) {
    return new ApiError(
      'service_unavailable',
      'No sandbox is free at the moment. Nothing was charged; try again.',
      {
        retryAfterSeconds: error.retryAfterSeconds,
      },
    );
  }
  if (error instanceof AgentUnreachableError) {
    logger.warn(
      { run_id: task.runId, agent_id: task.listing.id, err: error },
      'an agent could not be reached',
    );
    const credit = charge ? ' Your next run of it is free.' : '';
    return new ApiError(
      'service_unavailable',
      `The agent cannot be reached at the moment.${credit} Try again.`,
      {
        runId: task.runId,
        retryAfterSeconds: 10,
      },
    );
  }
  return internalError(error);
}

/** Gives a run that has happened already to a caller that asks again. */
function deliver(answer: Answer, sink: OutputSink | undefined): Answer {
  sink?.begin(answer.runId);
  if (answer.status === 'completed') sink?.delta(asText(answer.output));
  return answer;
}

function asText(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}
