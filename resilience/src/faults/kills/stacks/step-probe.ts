/**
 * Loaded into a server before its own code (`--import`). Kills a process when a run starts a step. Every step is a span of the
 * run's trace, so a tracer sees each start. The tracer records nothing.
 */
import { isMainThread } from 'node:worker_threads';
import { INVALID_SPAN_CONTEXT, trace, type Span, type Tracer } from '@opentelemetry/api';

export interface KillOrder {
  readonly type: 'kill-at-step';
  readonly step: string;
  /** The number of runs that start the step before the kill. */
  readonly after: number;
  /** From the start of the step to the kill. 0: before any of its work. */
  readonly delayMs: number;
  readonly pid: number;
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
    // Not sent when the server killed itself.
    process.send?.({ type: 'killed' });
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

// The server's threads also load this module.
if (isMainThread) {
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  process.on('message', (message: { type?: unknown }) => {
    if (message.type !== 'kill-at-step') return;
    seen = 0;
    order = message as KillOrder;
    process.send?.({ type: 'armed' });
  });
}
