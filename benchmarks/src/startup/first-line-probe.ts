/**
 * Loaded into the marketplace's own process before it (`--import`). Over the process's channel it tells what the metric of
 * first lines, `agent_rental_run_start_seconds`, has heard since it was last asked.
 */
import { Histogram } from 'prom-client';

/** What the measured process is asked, and answers. */
export const FIRST_LINES = 'first lines';

/** Its answer. Milliseconds from when a request was received to the first line of its agent. */
export interface FirstLines {
  probe: typeof FIRST_LINES;
  ms: number[];
}

/** As `prom-client` has it, without its overloads. */
type Observe = (this: { name: string }, ...args: unknown[]) => void;

let heard: number[] = [];

function listen(): void {
  // What every histogram without exemplars has as its `observe`.
  const prototype = Histogram.prototype as unknown as { observeWithoutExemplar: Observe };
  const { observeWithoutExemplar: observe } = prototype;
  prototype.observeWithoutExemplar = function observed(...args) {
    const [seconds] = args;
    if (this.name === 'agent_rental_run_start_seconds' && typeof seconds === 'number')
      heard.push(seconds * 1000);
    observe.apply(this, args);
  };
  process.on('message', (question) => {
    if (question !== FIRST_LINES) return;
    process.send?.({ probe: FIRST_LINES, ms: heard } satisfies FirstLines);
    heard = [];
  });
}

// The server's children inherit the option and not the question.
if (process.send && process.argv[1]?.endsWith('main.js')) listen();
