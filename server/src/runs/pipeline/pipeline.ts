import { setTimeout as pause } from 'node:timers/promises';
import { type ExecuteBody, RENTAL_TERMS, type RunRefusal } from '@agent-rental/contract';
import type { Chain } from '../../chain/index.js';
import type { IndexedStatus } from '../../credentials/index.js';
import type { Drain } from '../../http/drain.js';
import { ApiError } from '../../http/api-error.js';
import type { RateState } from '../../http/rate-limits/memory.js';
import type { Allowance } from '../../identity/index.js';
import type { Logger } from '../../platform/logger.js';
import type { SentCharge, Settlement } from '../../settlement/index.js';
import { AgentContact } from '../agents/contact.js';
import type { AgentContacts } from '../agents/contacts.js';
import type { DeclarativeAgents } from '../agents/declarative-agent.js';
import type { DeliveryTracking } from '../delivery/delivery-tracking.js';
import { OutputGate, outputAsText, type OutputSink } from '../delivery/output-gate.js';
import type { Begun } from '../history/begin-runs.js';
import type { LostEnds } from '../history/lost-ends.js';
import type { Refusals } from '../history/refusals.js';
import type { FinishedRun, RunRepository, RunRow } from '../history/repository.js';
import { beginAdoption, type Adoption } from '../idempotency/adoption.js';
import type { Idempotency } from '../idempotency/idempotency.js';
import type { LiveRuns } from '../idempotency/live-runs.js';
import type { CallHistory, CallScope, Retries } from '../idempotency/retries.js';
import type { RunChanges } from '../idempotency/run-changes.js';
import type { Answer, Caller, WaitingCallers } from '../idempotency/waiting-callers.js';
import { NoSlotError, type Slots } from '../queue/slots.js';
import type { StartLatency } from '../start-latency.js';
import type { Trials } from '../trials/trials.js';
import { admit, type AdmitDeps } from './admit.js';
import { charge } from './charge.js';
import { check, requestAccessState, type CheckDeps, type RequestedAccessState } from './check.js';
import { compensate, type CompensateDeps } from './compensate.js';
import { deliver, type DeliverDeps } from './deliver.js';
import { parse, parseOrder, readAccess, type Order, type ParseDeps, type Task } from './parse.js';
import { run, type RunAgentDeps } from './run.js';
import { slotRequest, takeSlot } from './slot.js';
import { inStep, type StepTimes } from './steps.js';

/** What the pipeline needs: what its steps need, and what connects them. */
export interface RunTaskDeps
  extends ParseDeps, AdmitDeps, CheckDeps, RunAgentDeps, DeliverDeps, CompensateDeps {
  idempotency: Idempotency;
  retries: Retries;
  deliveryTracking: DeliveryTracking;
  waitingCallers: WaitingCallers;
  live: LiveRuns;
  startLatency: StartLatency;
  contacts: AgentContacts;
  changes: RunChanges;
  refusals: Pick<Refusals, 'note'>;
  trials: Trials;
  stepTimes: StepTimes;
  lostEnds: Pick<LostEnds, 'note'>;
  // Each step names the part of these that it uses.
  chain: Chain;
  settlement: Settlement;
  runs: RunRepository;
  declarative: DeclarativeAgents;
  slots: Slots;
  drain: Drain;
}

/** One request to run a task. */
export interface TaskRequest {
  wallet: string;
  /** The API key that the request came with. */
  apiKeyId: string | undefined;
  body: ExecuteBody;
  idempotencyKey: string | undefined;
  /** What the caller may spend. */
  allowance: Allowance;
  /** Gets the output as it is made; absent for a caller that only wants the end. */
  sink?: OutputSink;
  caller: Caller;
  /** In milliseconds of `performance.now`. */
  receivedAt: number;
  /** Prefers to take over an undelivered equal run instead of paying for another one. */
  adoptsUndelivered: boolean;
  /** Where the request may be the retry of an equal one, which it then joins; absent: it is a call of its own. */
  retryScope?: CallScope | undefined;
  /** The pipeline notes here what the answer's headers say. */
  report: TaskReport;
  /** Knows the request's id. */
  logger: Pick<Logger, 'info' | 'warn'>;
}

/** What the headers of an answer say about its run. Filled in while the request is served, also when it fails. */
export interface TaskReport {
  /** The limit of executions, once the request is counted against it. */
  executionRate?: RateState;
  /** The run of another request whose answer this one gets, once that is known. */
  joined?: JoinedRun;
}

/** The run of an earlier request, which paid for it. */
interface JoinedRun {
  /** `adopted`: its answer had reached no caller. `retried`: this request is a retry of that one. */
  readonly how: 'adopted' | 'retried';
  readonly begunAt: Date;
}

/** How long a caller that gives up after a few seconds waits for a run. The shortest default of a client known is 5 s. */
export const IMPATIENT_WAIT_MS = 4_000;
/** How long the news of a cut connection may take: a client that calls again has just cut its earlier one. */
const CUT_HEARD_MS = 20;

/**
 * Runs a task for a caller in seven steps: 1 parse, 2 admit, 3 slot, 4 check, 5 charge, 6 run, 7 deliver. A failed run is a
 * value. A run that could not be served is an ApiError; then nothing was charged, or the charge is credited. From step 3
 * on the run does not depend on its request: it may go on after the caller has left, and `cancel` stops it from any replica.
 */
export async function runTask(deps: RunTaskDeps, given: TaskRequest): Promise<Answer> {
  try {
    return await serve(deps, given);
  } catch (error) {
    const why = refusalOf(error, given.report);
    if (why) deps.refusals.note(given.body.agent_id, why);
    throw error;
  }
}

/** What its creator is told that a request was refused for; undefined for all other errors. */
function refusalOf(error: unknown, { executionRate }: TaskReport): RunRefusal | undefined {
  // What a caller's own policy refuses is not the listing's.
  if (!(error instanceof ApiError) || error.policyRule !== undefined) return undefined;
  if (error.code === 'insufficient_balance') return 'insufficient_balance';
  if (error instanceof NoSlotError) return 'no_slot';
  return error.code === 'rate_limit_exceeded' && executionRate?.exceeded === true ? 'rate_limit' : undefined;
}

async function serve(deps: RunTaskDeps, given: TaskRequest): Promise<Answer> {
  let request = given;
  const { sink, report, retryScope } = request;
  const order = parseOrder(request.wallet, request.body, request.idempotencyKey);
  const adoption = request.adoptsUndelivered ? beginAdoption(deps.deliveryTracking, order) : undefined;
  await refuseByLoad(deps, request, order, adoption);
  let ahead: Lookups | undefined = lookUp(deps, request, order);
  const { task, ...parsed } = await inStep(deps, 'parse', () => parse(deps, order, given, report));
  let access: IndexedStatus | undefined = parsed.access;
  // A request that waited for a run that was not delivered starts over.
  for (; ; ahead = undefined, access = undefined) {
    // A repeated request gets its answer even when the rental has ended since: the run was paid for.
    const repeated = await deps.idempotency.find(task, ahead?.repeated);
    const history =
      repeated === undefined ? await (ahead?.history ?? findHistory(deps, request, order)) : undefined;
    if (retryScope && (history?.retried?.isRunning === true || history?.isImpatient === true)) {
      request = impatient(request);
    }
    const { caller } = request;
    let retried = history?.retried && (await joinRetried(deps, history.retried, retryScope));
    let earlier = repeated ?? retried ?? (await adoption?.find(caller.gone));
    const wasJustAnswered = history?.isJustAnswered === true;
    earlier ??= retried = await retriedSince(deps, request, order, { adoption, wasJustAnswered });
    if (repeated === undefined && earlier !== undefined) {
      const row = await deps.runs.find(earlier, task.wallet);
      report.joined = {
        how: retried === undefined ? 'adopted' : 'retried',
        begunAt: row?.created_at ?? new Date(),
      };
      // A request that joins a run learns its id here, and may leave before the run ends.
      sink?.begin(earlier);
    }
    if (earlier === undefined) {
      access ??= await readAccess(deps, task);
      const begun = await begin(deps, task, request, { access, adoption });
      const newRun = { runId: task.runId, agentId: task.listing.id };
      if (begun) return deps.waitingCallers.waitFor(newRun, caller, begun.work);
    } else {
      const answer = await deps.waitingCallers.join(earlier, task.wallet, caller);
      const isStopped = retried !== undefined && (await deps.retries.isStopped(retried));
      if (answer && !isStopped) return replay(answer, sink);
      // That run was not delivered, or stopped by its own caller: this request begins one.
      delete report.joined;
    }
  }
}

/**
 * Refuses a run of a listing whose slots and queue this process has filled, before its listing, its access or its limit is
 * looked at, because this refusal costs least. A request that may repeat an earlier one needs no slot, and passes.
 */
async function refuseByLoad(
  deps: RunTaskDeps,
  request: TaskRequest,
  order: Order,
  adoption: Adoption | undefined,
): Promise<void> {
  const run = { listingId: order.agentId, wallet: order.wallet };
  if (deps.slots.hasRoom(run)) return;
  if ((await deps.idempotency.findByKey(order.wallet, order.idempotencyKey)) !== undefined) return;
  if ((await findHistory(deps, request, order))?.retried !== undefined) return;
  if ((await adoption?.isPossible) === true) return;
  await deps.slots.requireRoom(run, request.caller.gone);
}

/**
 * Looks once more for the run that a request repeats. The answer of an equal run may have been written while this request
 * waited, or just before, to a connection that was already cut; the server learns of the cut a moment later.
 */
async function retriedSince(
  deps: RunTaskDeps,
  request: TaskRequest,
  order: Order,
  { adoption, wasJustAnswered }: { adoption: Adoption | undefined; wasJustAnswered: boolean },
): Promise<string | undefined> {
  if (request.retryScope === undefined) return undefined;
  if (!wasJustAnswered && (await adoption?.isPossible) !== true) return undefined;
  let history = await findHistory(deps, request, order);
  if (history?.isJustAnswered === true && history.retried === undefined) {
    await pause(CUT_HEARD_MS);
    history = await findHistory(deps, request, order);
  }
  return history?.retried && joinRetried(deps, history.retried, request.retryScope);
}

/** Counts the caller as waiting for the run that it repeats. */
async function joinRetried(
  { deliveryTracking, retries }: RunTaskDeps,
  { runId, isRunning }: NonNullable<CallHistory['retried']>,
  scope: CallScope | undefined,
): Promise<string> {
  await deliveryTracking.arrive(runId);
  if (!isRunning) await retries.recordTaken(runId);
  else if (scope !== undefined) await retries.recordRetry(runId, scope.caller);
  return runId;
}

/** The request of a caller that gives up soon: it is told that the run goes on before that. */
function impatient(request: TaskRequest): TaskRequest {
  const { caller } = request;
  const patienceMs = Math.min(caller.patienceMs ?? IMPATIENT_WAIT_MS, IMPATIENT_WAIT_MS);
  return { ...request, caller: { ...caller, patienceMs } };
}

/** Step 2, and the run's record, with which it asks for its slot. Lets the run work by itself; undefined when another request began it first. */
async function begin(
  deps: RunTaskDeps,
  task: Task,
  request: TaskRequest,
  { access, adoption }: { access: IndexedStatus; adoption: Adoption | undefined },
): Promise<{ work: Promise<FinishedRun> } | undefined> {
  const leaves = [deps.drain.enter()];
  const { began, over } = deps.startLatency.enter(request.receivedAt);
  leaves.push(over);
  const leave = () => leaves.forEach((each) => each());
  let work: Promise<FinishedRun> | undefined;
  try {
    const admitted = await inStep(deps, 'admit', () => admit(deps, task, request.allowance, access));
    // Abort before charging if the client left, unless it asked for an asynchronous run.
    if (request.caller.patienceMs === undefined) request.caller.gone.throwIfAborted();
    // Before the run is recorded: a refusal has to cost less than a run.
    leaves.push(deps.slots.countDemand(slotRequest(admitted)));
    const requested = requestAccessState(deps, admitted);
    // A caller that is told "running" must find the run after a crash.
    const isDurable = request.caller.patienceMs !== undefined;
    const seat = { isPriority: admitted.isPriority, bounds: deps.slots.bounds };
    const callScope = request.retryScope?.digest;
    const begun = await deps.idempotency
      .begin(admitted, { adoption, isDurable, callScope, seat })
      .catch((error: unknown) => {
        // It may be on record all the same.
        if (!(error instanceof ApiError)) deps.lostEnds.note(admitted.runId);
        throw error;
      });
    if (begun === undefined) return undefined;
    work = deps.live.start(admitted.runId, (stop) =>
      carryOut(deps, admitted, request, { stop, began, requested, entered: begun.entry }),
    );
    return { work };
  } finally {
    if (work) work.then(leave, leave);
    else leave();
  }
}

/** Steps 3 to 7, independent of the request. */
async function carryOut(
  deps: RunTaskDeps,
  task: Task,
  request: TaskRequest,
  {
    stop,
    began,
    requested,
    entered,
  }: {
    stop: AbortSignal;
    began(): void;
    requested: RequestedAccessState | undefined;
    entered: Begun['entry'];
  },
): Promise<FinishedRun> {
  const { runId, listing } = task;
  const { logger, allowance } = request;
  const contact = new AgentContact(() => deps.contacts.reached(listing.version.id));
  // Only runs that are charged are ever credited, and trials given back.
  const isMadeGood = RENTAL_TERMS[listing.rentalModel].chargesRuns || task.isTrial === true;
  const recordFirst = isMadeGood ? () => deps.runs.recordOutputLeft(runId) : undefined;
  const gate = new OutputGate(request.sink, runId, recordFirst);
  let sent: SentCharge | undefined;
  try {
    await inStep(deps, 'slot', () => takeSlot(deps, task, stop, entered));
    const startedAt = performance.now();
    const checked = await inStep(deps, 'check', () => check(deps, task, allowance, { stop, requested }));
    sent = await beginCharge(deps, () => charge(deps, checked, gate, contact, stop));
    const outcome = await inStep(deps, 'run', () =>
      run(deps, task, checked, { gate, contact }, { stop, began, logger }),
    );
    const paying = { charge: sent, usesCredit: checked.usesCredit, allowance, contact };
    return await inStep(deps, 'deliver', () => deliver(deps, task, paying, gate, outcome, startedAt));
  } catch (error) {
    gate.close();
    throw await compensate(deps, task, request, { sent, outputHasLeft: gate.hasSent }, error).catch(
      (failure: unknown) => {
        deps.lostEnds.note(runId);
        throw failure;
      },
    );
  } finally {
    deps.live.forget(runId);
    if (!(await deps.slots.free(runId))) deps.lostEnds.note(runId);
  }
}

/** Resolves once the charge is on its way. The step lasts until it is confirmed, beside the run. */
function beginCharge(
  deps: RunTaskDeps,
  begin: () => Promise<SentCharge | undefined>,
): Promise<SentCharge | undefined> {
  return new Promise((resolve, reject) => {
    inStep(deps, 'charge', async () => {
      const sent = await begin();
      resolve(sent);
      await sent?.confirmed;
      // Where the charge was sent, `deliver` waits for the same promise, and gets its error.
    }).catch(reject);
  });
}

/** Look-ups that start before the listing is known, so that they do not wait for it. */
interface Lookups {
  repeated: Promise<RunRow | undefined>;
  history: Promise<CallHistory | undefined>;
}

function lookUp(deps: RunTaskDeps, request: TaskRequest, order: Order): Lookups {
  const repeated = deps.idempotency.findByKey(request.wallet, request.idempotencyKey);
  // May stay unawaited; avoids an unhandled rejection.
  repeated.catch(() => undefined);
  const history = findHistory(deps, request, order);
  history.catch(() => undefined);
  return { repeated, history };
}

/** Looks for the run that the request repeats, where it may be a retry. */
async function findHistory(
  { retries }: RunTaskDeps,
  { retryScope, receivedAt }: TaskRequest,
  { digest }: Order,
): Promise<CallHistory | undefined> {
  return retryScope && retries.find(retryScope, digest, performance.now() - receivedAt);
}

/** Gives an earlier run's answer to a repeated request. */
function replay(answer: Answer, sink: OutputSink | undefined): Answer {
  sink?.begin(answer.runId);
  if (answer.status === 'completed') sink?.delta(outputAsText(answer.output));
  return answer;
}
