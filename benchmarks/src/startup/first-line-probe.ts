/**
 * Loaded into the marketplace's process before its own code (`--import`). Over the process's channel it reports the new values of
 * the metric `agent_rental_run_start_seconds`.
 */
import { Histogram } from 'prom-client';

/** The question to the measured process, and the mark of its answer. */
export const FIRST_LINES = 'first lines';

/** The answer: the times from each request to its agent's first line, in milliseconds. */
export interface FirstLines {
  probe: typeof FIRST_LINES;
  ms: number[];
}

/** `prom-client`'s `observe`, without its overloads. */
type Observe = (this: { name: string }, ...args: unknown[]) => void;

let heard: number[] = [];

function listen(): void {
  // Every histogram without exemplars uses this method as its `observe`.
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

// The server's child processes also load this module, but only the server has the channel.
if (process.send && process.argv[1]?.endsWith('main.js')) listen();
