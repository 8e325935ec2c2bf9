import { once } from 'node:events';
import type { StandInAgent } from './listing.js';

/** An agent that says `started` and then works until it is aborted. */
export interface HangingAgent {
  readonly run: StandInAgent;
  /** Resolves once it has started. */
  readonly started: Promise<void>;
  /** Resolves once it was aborted. */
  readonly aborted: Promise<void>;
  /** Whether it was aborted by now. */
  wasAborted(): boolean;
}

/** Makes an agent for tests of cancellation; waiting is on events, never on time. */
export function hangingAgent(): HangingAgent {
  let beginning = (): void => undefined;
  let aborting = (): void => undefined;
  let isAborted = false;
  return {
    wasAborted: () => isAborted,
    started: new Promise((resolve) => {
      beginning = resolve;
    }),
    aborted: new Promise((resolve) => {
      aborting = resolve;
    }),
    run: async function* ({ signal }) {
      beginning();
      yield 'started';
      if (!signal.aborted) await once(signal, 'abort');
      isAborted = true;
      aborting();
      return { output: 'aborted' };
    },
  };
}
