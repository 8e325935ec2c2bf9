import type { StandInAgent, StandInOutcome } from './listing.js';

/** An agent that says `working` and then ends with this output. */
export function answeringAgent(
  output: StandInOutcome['output'],
  status: StandInOutcome['status'] = 'completed',
): StandInAgent {
  return async function* () {
    yield 'working';
    return { status, output };
  };
}
