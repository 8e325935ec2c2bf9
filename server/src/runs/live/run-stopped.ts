import { ApiError } from '../../errors/api-error.js';

/** Why a run was stopped: by its wallet, or because its last caller left. */
export type StopReason = 'cancelled' | 'caller_left';

const BEFORE_IT_BEGAN: Record<StopReason, string> = {
  cancelled: 'The run was cancelled before the agent began.',
  caller_left: 'The run was stopped before the agent began, because its caller went away.',
};

const WHILE_IT_WORKED: Record<StopReason, string> = {
  cancelled: 'The run was cancelled.',
  caller_left: 'The run was stopped because its caller went away.',
};

/** A run was stopped. As an answer it is for a run that had not started. */
export class RunStoppedError extends ApiError {
  /** The output of the run if the agent had started. */
  readonly output: string;

  constructor(reason: StopReason, runId: string) {
    super('invalid_request', BEFORE_IT_BEGAN[reason], { next: 'Nothing was charged.', runId });
    this.output = WHILE_IT_WORKED[reason];
  }
}
