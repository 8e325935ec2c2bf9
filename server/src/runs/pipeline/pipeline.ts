import type { ExecuteBody } from '@agent-rental/contract';
import type { Chain } from '../../chain/index.js';
import type { IndexedStatus } from '../../credentials/index.js';
import type { Allowance } from '../../identity/index.js';
import type { ListingService } from '../../listings/index.js';
import { createDeadline } from '../../platform/deadline.js';
import type { Drain } from '../../http/drain.js';
import type { Logger } from '../../platform/logger.js';
import type { SentCharge, Settlement } from '../../settlement/index.js';
import { admit, type AdmitDeps } from './admit.js';
import { beginAdoption, type Adoption } from '../idempotency/adoption.js';
import { AgentContact } from '../agents/contact.js';
import type { AgentContacts } from '../agents/contacts.js';
import type { Attendance } from '../delivery/delivery-tracking.js';
import type { Beginnings } from './start-latency.js';
import type { Answer, Caller, Callers } from '../idempotency/waiting-callers.js';
import { askChain, check, type AskedStanding, type CheckDeps } from './check.js';
import type { DeclarativeAgents } from '../agents/declarative-agent.js';
import type { LiveRuns } from '../idempotency/live-runs.js';
import { OutputGate, outputAsText, type OutputSink } from '../delivery/output-gate.js';
import { parseOrder, taskOf, type Order, type Task } from './parse.js';
import { release, type ReleaseDeps } from './deliver.js';
import type { Repeats } from '../idempotency/repeated-requests.js';
import { run, type RunAgentDeps } from './run.js';
import type { RunChanges } from '../idempotency/run-changes.js';
import type { FinishedRun, RunRepository, RunRow } from '../history/repository.js';
import type { SeatRequest } from '../queue/slot-repository.js';
import type { Seats } from '../queue/slots.js';
import { settle } from './charge.js';
import { undo, type UndoDeps } from './compensate.js';

/** What running a task needs: what its steps need, and what connects them. */
export interface RunTaskDeps extends AdmitDeps, CheckDeps, RunAgentDeps, ReleaseDeps, UndoDeps {
  listings: ListingService;
  repeats: Repeats;
  attendance: Attendance;
  callers: Callers;
  live: LiveRuns;
  beginnings: Beginnings;
  contacts: AgentContacts;
  changes: RunChanges;
  // Each step names the part of these that it uses.
  chain: Chain;
  settlement: Settlement;
  runs: RunRepository;
  declarative: DeclarativeAgents;
  seats: Seats;
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
  /** In milliseconds of `performance.now`. */
  receivedAt: number;
  /** Called when the request takes over an undelivered run; absent for a caller that does not want to. */
  onAdopted?: (() => void) | undefined;
  /** Knows the request's id. */
  logger: Pick<Logger, 'info' | 'warn'>;
}

/**
 * Runs a task for a caller, in seven steps: 1 parse, 2 admit, 3 seat, 4 check, 5 settle, 6 run, 7 release. A failed run
 * is a value; whatever could not be served is an ApiError, and then nothing was charged or it is made good. From
 * step 3 on the run does not depend on the request any more: it may go on when the caller has left, and is stopped by
 * `cancel` from anywhere.
 */
export async function runTask(deps: RunTaskDeps, request: TaskRequest): Promise<Answer> {
  const { caller, sink } = request;
  const order = parseOrder(request.wallet, request.body, request.idempotencyKey);
  let ahead: LookedAhead | undefined = lookAhead(deps, request);
  const adoption = request.onAdopted && beginAdoption(deps.attendance, order);
  const task = await parse(deps, request, order);
  // Whoever has waited for another run first looks again.
  for (; ; ahead = undefined) {
    // A repeat gets its answer whatever has become of the rental since: it was paid for.
    const repeated = await deps.repeats.find(task, ahead?.repeated);
    const earlier = repeated ?? (await adoption?.find(caller.gone));
    if (repeated === undefined && earlier !== undefined) {
      request.onAdopted?.();
      // Whoever takes a run over knows it by its id alone, and may not wait for its end.
      sink?.begin(earlier);
    }
    if (earlier === undefined) {
      const access = ahead?.access ?? accessOf(deps, request);
      const begun = await begin(deps, task, request, { access, adoption });
      const run = { runId: task.runId, agentId: task.listing.id };
      if (begun) return deps.callers.attend(run, caller, begun.work);
    } else {
      const answer = await deps.callers.join(earlier, task.wallet, caller);
      if (answer) return deliver(answer, sink);
    }
  }
}

/** Lets a run begin to work by itself; undefined when another request came first. */
async function begin(
  deps: RunTaskDeps,
  task: Task,
  request: TaskRequest,
  { access, adoption }: { access: Promise<IndexedStatus>; adoption: Adoption | undefined },
): Promise<{ work: Promise<FinishedRun> } | undefined> {
  const leaves = [deps.drain.enter()];
  const { began, over } = deps.beginnings.enter(request.receivedAt);
  leaves.push(over);
  const leave = () => leaves.forEach((each) => each());
  let work: Promise<FinishedRun> | undefined;
  try {
    const admitted = await admit(deps, task, request.allowance, access);
    // Nobody pays for what nobody waits for, unless it was to be begun and left.
    if (request.caller.patienceMs === undefined) request.caller.gone.throwIfAborted();
    // Before anything is written down: to be refused has to cost less than to be let in.
    leaves.push(deps.seats.comeIn(seatRequest(admitted)));
    const asked = askChain(deps, admitted);
    // Whoever is told that the run goes on is told something that lasts.
    const isDurable = request.caller.patienceMs !== undefined;
    if (!(await deps.repeats.begin(admitted, { adoption, isDurable }))) return undefined;
    work = deps.live.start(admitted.runId, (stop) =>
      carryOut(deps, admitted, request, { stop, began, asked }),
    );
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
  { stop, began, asked }: { stop: AbortSignal; began(): void; asked: AskedStanding | undefined },
): Promise<FinishedRun> {
  const { runId, listing } = task;
  const contact = new AgentContact(() => deps.contacts.reached(listing.version.id));
  // Only Per-Task runs are ever credited.
  const recordFirst =
    listing.rentalModel === 'per_query' ? () => deps.runs.recordOutputLeft(runId) : undefined;
  const gate = new OutputGate(request.sink, runId, recordFirst);
  let charge: SentCharge | undefined;
  try {
    await seat(deps, task, stop);
    const startedAt = performance.now();
    const checked = await check(deps, task, request.allowance, { stop, asked });
    charge = await settle(deps, checked, gate, contact, stop);
    const { logger, allowance } = request;
    const outcome = await run(deps, task, checked, { gate, contact }, { stop, began, logger });
    const paying = { charge, usesCredit: checked.usesCredit, allowance, contact };
    return await release(deps, task, paying, gate, outcome, startedAt);
  } catch (error) {
    gate.close();
    throw await undo(deps, task, request, charge, error);
  } finally {
    await Promise.all([deps.seats.free(runId), deps.changes.announce(runId)]);
  }
}

/** What a request asks for beside its listing. Nobody may come to need it. */
interface LookedAhead {
  access: Promise<IndexedStatus>;
  repeated: Promise<RunRow | undefined>;
}

function lookAhead(deps: RunTaskDeps, request: TaskRequest): LookedAhead {
  const repeated = deps.repeats.look(request.wallet, request.idempotencyKey);
  repeated.catch(() => undefined);
  return { access: accessOf(deps, request), repeated };
}

/** What the index says of the caller's access. Nobody may come to need it. */
function accessOf(deps: RunTaskDeps, { wallet, body }: TaskRequest): Promise<IndexedStatus> {
  const access = deps.credentials.indexedStatus(wallet, body.agent_id);
  access.catch(() => undefined);
  return access;
}

/** 1. What is asked, of which listing, how often. */
async function parse(deps: RunTaskDeps, request: TaskRequest, order: Order): Promise<Task> {
  const listing = await deps.listings.find(order.agentId);
  await request.countExecution(listing.id, listing.runsPerMinute);
  return taskOf(order, request.body, listing);
}

/** 3. One of the listing's seats, or the line for them: nothing is spent there yet, so a stop costs nothing. */
async function seat(deps: RunTaskDeps, task: Task, stop: AbortSignal): Promise<void> {
  const refused = new AbortController();
  const allowed = deps.repeats.requireNotCancelled(task).catch((error: unknown) => refused.abort(error));
  const ends = createDeadline(undefined, stop, deps.drain.begun, refused.signal);
  try {
    await deps.seats.take(seatRequest(task), ends.signal);
  } finally {
    ends.clear();
  }
  await allowed;
  refused.signal.throwIfAborted();
}

function seatRequest({ runId, listing, wallet, isPriority }: Task): SeatRequest {
  return { runId, listingId: listing.id, wallet, isPriority };
}

/** Gives a run that has happened already to a caller that asks again. */
function deliver(answer: Answer, sink: OutputSink | undefined): Answer {
  sink?.begin(answer.runId);
  if (answer.status === 'completed') sink?.delta(outputAsText(answer.output));
  return answer;
}
