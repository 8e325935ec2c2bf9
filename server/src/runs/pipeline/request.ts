import type { ExecuteBody } from '@agent-rental/contract';
import type { Owner } from '../../access/owner.js';
import type { Chain } from '../../chain/index.js';
import type { Drain } from '../../platform/drain.js';
import type { RateState } from '../../rate-limits/memory.js';
import type { Allowance } from '../../spending/index.js';
import type { Logger } from '../../platform/logger.js';
import type { Settlement } from '../../settlement/index.js';
import type { AgentContacts } from '../agents/contacts.js';
import type { DeclarativeAgents } from '../agents/declarative-agent.js';
import type { OutputSink } from '../delivery/output-gate.js';
import type { UnrecordedEnds } from '../history/unrecorded-ends.js';
import type { NotedCounts } from '../history/noted-counts.js';
import type { RunRepository } from '../history/repository.js';
import type { LiveRuns } from '../live/live-runs.js';
import type { RunChanges } from '../live/run-changes.js';
import type { Caller, WaitingCallers } from '../calls/waiting-callers.js';
import type { Slots } from '../queue/slots.js';
import type { StartGate } from '../start-gate.js';
import type { Trials } from '../trials/trials.js';
import type { AdmitDeps } from './admit.js';
import type { CheckDeps } from './check.js';
import type { CompensateDeps } from './compensate.js';
import type { DeliverDeps } from './deliver.js';
import type { KeyTurns } from '../calls/key-turns.js';
import type { ParseDeps } from './parse.js';
import type { RunAgentDeps } from './run.js';
import type { StepDeps } from './steps.js';

/** One request to run a task. */
export interface TaskRequest {
  owner: Owner;
  /** The address that sent it, or its network. */
  address?: string | undefined;
  body: ExecuteBody;
  /** Leads the operator to the run. */
  requestId?: string;
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

/** The parts of all steps, and the parts that connect the steps. */
export interface RunTaskDeps
  extends ParseDeps, AdmitDeps, CheckDeps, RunAgentDeps, DeliverDeps, CompensateDeps, StepDeps {
  waitingCallers: WaitingCallers;
  keyTurns: KeyTurns;
  live: LiveRuns;
  startGate: StartGate;
  contacts: AgentContacts;
  changes: RunChanges;
  noted: Pick<NotedCounts, 'noteRefusal'>;
  trials: Trials;
  unrecordedEnds: Pick<UnrecordedEnds, 'note'>;
  // Each step names the part of these that it uses.
  chain: Chain;
  settlement: Settlement;
  runs: RunRepository;
  declarative: DeclarativeAgents;
  slots: Slots;
  drain: Drain;
}
