import {
  context,
  isSpanContextValid,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Span,
} from '@opentelemetry/api';

/** Before tracing is started, its spans record nothing and cost next to nothing. */
const tracer = () => trace.getTracer('agent-rental');

/** The attributes of a span. They never hold prompts, inputs, outputs, keys or addresses of creators. */
interface SpanOptions {
  readonly attributes?: Attributes;
  /** `client`: it waits for another service. Default `internal`. */
  readonly kind?: 'internal' | 'client';
}

/**
 * Runs work as a span of the current trace. The span holds only the name of an error, because messages may repeat
 * texts of callers.
 *
 * @throws the error of the work
 */
export async function traced<Result>(
  name: string,
  { attributes = {}, kind = 'internal' }: SpanOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const spanKind = kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL;
  return tracer().startActiveSpan(name, { kind: spanKind, attributes }, async (span) => {
    try {
      return await work();
    } catch (error) {
      const errorName = error instanceof Error ? error.name : typeof error;
      span.setAttribute('error.type', errorName);
      span.setStatus({ code: SpanStatusCode.ERROR, message: errorName });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Whether the current work belongs to a trace that is recorded. */
export function isTraced(): boolean {
  return trace.getActiveSpan()?.isRecording() === true;
}

/**
 * The header by which another service joins the current trace (W3C Trace Context); empty where nothing is traced.
 * Only `traceparent`: others must not read a caller's `tracestate` or `baggage`.
 */
export function traceHeaders(): Record<string, string> {
  const span = trace.getSpanContext(context.active());
  if (span === undefined || !isSpanContextValid(span)) return {};
  const flags = (span.traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0');
  return { traceparent: `00-${span.traceId}-${span.spanId}-${flags}` };
}

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The span of a request to this server. */
export interface RequestSpan {
  /** Runs the work of the request; its spans are below this one. */
  run(work: () => void): void;
  /** @param route pattern of the route */
  end(route: string, status: number): void;
}

/**
 * Begins the span of a request. A request of the server to itself is in the current trace. Other requests are in the trace
 * of their `traceparent`, or in a new one.
 */
export function beginRequest(method: string, traceparent: string | undefined): RequestSpan {
  let parent = context.active();
  if (trace.getSpan(parent) === undefined) {
    const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
    if (traceId !== undefined && spanId !== undefined && flags !== undefined) {
      const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
      parent = trace.setSpanContext(parent, { traceId, spanId, traceFlags, isRemote: true });
    }
  }
  const span: Span = tracer().startSpan(
    method,
    { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } },
    parent,
  );
  const inside = trace.setSpan(parent, span);
  return {
    run: (work) => context.with(inside, work),
    end(route, status) {
      span.updateName(`${method} ${route}`);
      span.setAttributes({ 'http.route': route, 'http.response.status_code': status });
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}
