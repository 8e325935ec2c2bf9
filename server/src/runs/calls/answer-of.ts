import type { Owner } from '../../access/owner.js';
import { outputAsText, type OutputSink } from '../delivery/output-gate.js';
import type { RunRepository, RunRow } from '../history/repository.js';
import type { Order } from '../task.js';
import type { Answer, Caller, WaitingCallers } from './waiting-callers.js';

/** The answer to a request, by its run or by the same call's earlier run, which has paid for both. */
export type TaskAnswer = Answer & {
  /** When the same call started the run. Only for keys with a window. */
  readonly joinedRunOf?: Date;
};

/** Gives a request the answer of the run that an earlier request of the same call started. */
export async function answerOf(
  deps: { runs: Pick<RunRepository, 'toFinished'>; waitingCallers: Pick<WaitingCallers, 'join'> },
  run: RunRow,
  { key }: Order,
  { owner, caller, sink }: { owner: Owner; caller: Caller; sink?: OutputSink },
): Promise<TaskAnswer> {
  sink?.begin(run.id);
  const answer = deps.runs.toFinished(run) ?? (await deps.waitingCallers.join(run.id, owner, caller));
  if (answer.status === 'completed') sink?.delta(outputAsText(answer.output));
  return key?.windowSeconds === undefined ? answer : { ...answer, joinedRunOf: run.created_at };
}
