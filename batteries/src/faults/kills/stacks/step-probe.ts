/**
 * Loaded into a server before its own code (`--import`). Kills a process at the moment at which a run begins a step: every
 * step is a span of the run's trace, so a tracer is told of each. It records nothing.
 */
import { isMainThread } from 'node:worker_threads';
import { INVALID_SPAN_CONTEXT, trace, type Span, type Tracer } from '@opentelemetry/api';

/** What the parent says: which process to kill, and when. */
export interface KillOrder {
  readonly type: 'kill-at-step';
  readonly step: string;
  /** How many runs begin the step before. */
  readonly after: number;
  /** From the beginning of the step; 0: before anything of it. */
  readonly delayMs: number;
  readonly pid: number;
}

/** What the parent is told, unless the server killed itself. */
export interface Killed {
  readonly type: 'killed';
}

let order: KillOrder | undefined;
let seen = 0;

function noteSpan(name: string): void {
  if (order === undefined || name !== `run.${order.step}`) return;
  seen += 1;
  if (seen <= order.after) return;
  const { pid, delayMs } = order;
  order = undefined;
  const kill = () => {
    process.kill(pid, 'SIGKILL');
    process.send?.({ type: 'killed' } satisfies Killed);
  };
  if (delayMs === 0) kill();
  else setTimeout(kill, delayMs);
}

const startSpan = (name: string): Span => {
  noteSpan(name);
  return trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
};
const tracer: Tracer = {
  startSpan,
  startActiveSpan<Work extends (span: Span) => unknown>(name: string, ...given: unknown[]) {
    return (given.at(-1) as Work)(startSpan(name)) as ReturnType<Work>;
  },
};

// Threads of the server load it, too.
if (isMainThread) {
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  process.on('message', (message: { type?: unknown }) => {
    if (message.type !== 'kill-at-step') return;
    seen = 0;
    order = message as KillOrder;
    process.send?.({ type: 'armed' });
  });
}
