import type { SandboxExit } from '../sandbox.js';
import type { RunEnding, RunFailureCause } from './run-options.js';

/** Returns a failed ending: its cause, the text for the renter, and the detail for the operator. */
export function failed(cause: RunFailureCause, output: string, detail = output): RunEnding {
  return { status: 'failed', output, failure: { cause, detail } };
}

/** Returns the ending of a run that its caller stopped. */
export function stoppedRun(): RunEnding {
  return failed('aborted', 'The run was stopped.');
}

/** A runner asked for more than it may. The message is for the renter. */
export class LimitExceeded extends Error {
  override readonly name = 'LimitExceeded';
}

export function explainExit({ reason, code, signal }: SandboxExit): RunEnding {
  switch (reason) {
    case 'line_too_long':
    case 'output_too_large':
      return failed('limit', 'The agent produced more output than it may.', reason);
    case 'input_not_read':
      return failed('limit', 'The agent stopped reading its input.', reason);
    default:
      return failed('crash', 'The agent stopped unexpectedly.', `${reason}, code ${code}, signal ${signal}`);
  }
}
