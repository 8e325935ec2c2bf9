import { type ExecuteBody, RENTAL_TERMS, type RunRefusal } from '@agent-rental/contract';
import type { Chain } from '../../chain/index.js';
import type { IndexedStatus } from '../../credentials/index.js';
import type { Drain } from '../../platform/drain.js';
import { ApiError } from '../../errors/api-error.js';
import type { RateState } from '../../rate-limits/memory.js';
import type { Allowance } from '../../identity/index.js';
import type { Logger } from '../../platform/logger.js';
import type { SentCharge, Settlement } from '../../settlement/index.js';
import { AgentContact } from '../agents/contact.js';
import type { AgentContacts } from '../agents/contacts.js';
import type { DeclarativeAgents } from '../agents/declarative-agent.js';
import { OutputGate, outputAsText, type OutputSink } from '../delivery/output-gate.js';
import type { StartedRun } from '../history/begin-runs.js';
import type { UnrecordedEnds } from '../history/unrecorded-ends.js';
import type { Refusals } from '../history/refusals.js';
import { saltedDigest, type FinishedRun, type RunRepository, type RunRow } from '../history/repository.js';
import type { LiveRuns } from '../live/live-runs.js';
import type { RunChanges } from '../live/run-changes.js';
import { resolveCall } from '../calls/resolve-call.js';
import {
  errorOfUndelivered,
  type Answer,
  type Caller,
  type WaitingCallers,
} from '../calls/waiting-callers.js';
import type { Order, Task } from '../task.js';
import { NoSlotError, type Slots } from '../queue/slots.js';
import type { StartGate } from '../start-gate.js';
import type { Trials } from '../trials/trials.js';
import { admit, type AdmitDeps } from './admit.js';
import { charge } from './charge.js';
import { check, requestAccessState, type CheckDeps, type RequestedAccessState } from './check.js';
import { compensate, type CompensateDeps } from './compensate.js';
import { deliver, type DeliverDeps } from './deliver.js';
import { parse, parseOrder, type ParseDeps } from './parse.js';
import { run, type RunAgentDeps } from './run.js';
import { slotRequest, takeSlot } from './slot.js';
import { inStep, type StepTimes } from './steps.js';

/** The parts of all steps, and the parts that connect the steps. */
export interface RunTaskDeps
  extends ParseDeps, AdmitDeps, CheckDeps, RunAgentDeps, DeliverDeps, CompensateDeps {
  waitingCallers: WaitingCallers;
  live: LiveRuns;
  startGate: StartGate;
  contacts: AgentContacts;
  changes: RunChanges;
  refusals: Pick<Refusals, 'note'>;
  trials: Trials;
  stepTimes: StepTimes;
  unrecordedEnds: Pick<UnrecordedEnds, 'note'>;
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
  /** The header, with its window. */
  idempotencyKey: string | undefined;
  /** The caller's limits of spending. */
  allowance: Allowance;
  /** Gets the output piece by piece; absent for a caller that waits for the end. */
  sink?: OutputSink;
  caller: Caller;
  /** In milliseconds of `performance.now`. */
  receivedAt: number;
  /** Gets the state of the limit of executions once the request is counted, also when it is refused. */
  onExecutionRate(rate: RateState): void;
  /** Knows the request's id. */
  logger: Pick<Logger, 'info' | 'warn'>;
}

/** The answer to a request, by its run or by the same call's earlier run, which has paid for both. */
export type TaskAnswer = Answer & {
  /** When the same call started the run. Only for keys with a window. */
  readonly joinedRunOf?: Date;
};

/**
 * Runs a task for a caller. It resolves the call, and then takes seven steps: 1 parse, 2 admit, 3 slot, 4 check, 5 charge,
 * 6 run, 7 deliver. A failed run is a value. A run that could not be served is an ApiError; then nothing was charged, or the
 * charge is credited. From step 3 on the run does not depend on its request. It may go on after the caller has left, and
 * `cancel` stops it from any replica.
 */
export async function runTask(deps: RunTaskDeps, request: TaskRequest): Promise<TaskAnswer> {
  let rate: RateState | undefined;
  try {
    return await serve(deps, request, (counted) => {
      rate = counted;
      request.onExecutionRate(counted);
    });
  } catch (error) {
    const why = refusalOf(error, rate);
    if (why) deps.refusals.note(request.body.agent_id, why);
    throw error;
  }
}

/** The reason of a refusal, as its creator reads it; undefined for all other errors. */
function refusalOf(error: unknown, rate: RateState | undefined): RunRefusal | undefined {
  // A refusal by the caller's own policy is not the listing's.
  if (!(error instanceof ApiError) || error.policyRule !== undefined) return undefined;
  if (error.code === 'insufficient_balance') return 'insufficient_balance';
  if (error instanceof NoSlotError) return 'no_slot';
  return error.code === 'rate_limit_exceeded' && rate?.exceeded === true ? 'rate_limit' : undefined;
}

async function serve(
  deps: RunTaskDeps,
  request: TaskRequest,
  onRate: (rate: RateState) => void,
): Promise<TaskAnswer> {
  const { wallet, caller } = request;
  const order = parseOrder(wallet, request.body, request.idempotencyKey);
  const call = await resolveCall(deps, order, caller);
  if (call.kind !== 'new') return answerOf(deps, call.run, order, request);

  // Here a full queue refuses at the least cost: nothing was read or counted yet.
  await deps.slots.requireRoom({ listingId: order.agentId, wallet }, caller.gone);
  const { task, access } = await inStep(deps, 'parse', () => parse(deps, order, request, onRate));
  const started = await start(deps, task, request, access);
  if (started)
    return deps.waitingCallers.waitFor({ runId: task.runId, agentId: order.agentId }, caller, started.work);

  // Another request with the key was recorded first.
  const first = await resolveCall(deps, order, caller);
  if (first.kind === 'new') throw errorOfUndelivered();
  return answerOf(deps, first.run, order, request);
}

/** Gives a request the answer of the run that an earlier request of the same call started. */
async function answerOf(
  deps: RunTaskDeps,
  run: RunRow,
  { key }: Order,
  { wallet, caller, sink }: TaskRequest,
): Promise<TaskAnswer> {
  sink?.begin(run.id);
  const answer = deps.runs.toFinished(run) ?? (await deps.waitingCallers.join(run.id, wallet, caller));
  if (answer.status === 'completed') sink?.delta(outputAsText(answer.output));
  return key?.windowSeconds === undefined ? answer : { ...answer, joinedRunOf: run.created_at };
}

/** Step 2, and the run's record, which asks for its slot. Lets the run work by itself; undefined where its key has another run. */
async function start(
  deps: RunTaskDeps,
  task: Task,
  request: TaskRequest,
  access: IndexedStatus,
): Promise<{ work: Promise<FinishedRun> } | undefined> {
  const leaves = [deps.drain.enter()];
  const { began, over } = deps.startGate.enter(request.receivedAt);
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
    const recorded = await record(deps, admitted, request.caller);
    if (recorded === undefined) return undefined;
    work = deps.live.start(admitted.runId, (stop) =>
      carryOut(deps, admitted, request, { stop, began, requested, entered: recorded.entry }),
    );
    return { work };
  } finally {
    if (work) work.then(leave, leave);
    else leave();
  }
}

/** Records the run with its place for a slot; undefined where its key has another run. */
async function record(deps: RunTaskDeps, task: Task, caller: Caller): Promise<StartedRun | undefined> {
  const { runId, wallet, listing, key, digest, salt } = task;
  const run = {
    id: runId,
    listingId: listing.id,
    versionId: listing.version.id,
    wallet,
    key,
    requestDigest: digest,
    salt,
    inputDigest: saltedDigest(salt, { task: task.task, input: task.input }),
  };
  try {
    return await deps.runs.begin(run, {
      // A caller that is told "running" must find the run after a crash.
      isDurable: caller.patienceMs !== undefined,
      seat: { isPriority: task.isPriority, bounds: deps.slots.bounds },
    });
  } catch (error) {
    // It may be on record all the same.
    deps.unrecordedEnds.note(runId);
    throw error;
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
    entered: StartedRun['entry'];
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
        deps.unrecordedEnds.note(runId);
        throw failure;
      },
    );
  } finally {
    deps.live.forget(runId);
    if (!(await deps.slots.free(runId))) deps.unrecordedEnds.note(runId);
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
