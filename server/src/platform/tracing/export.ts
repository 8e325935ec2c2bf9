import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../logger.js';
import { VERSION } from '../version.js';

/** Where traces go, and which server they are of. */
export interface TracingOptions {
  /** Base address of a collector that takes OTLP over HTTP; traces go to `/v1/traces` below it. */
  readonly endpoint: string;
  /** Headers of each export, for instance a token of the collector. */
  readonly headers: Readonly<Record<string, string>>;
  /** Share of the traces that begin here which are recorded, from 0 to 1. */
  readonly sampleRatio: number;
  readonly serviceName: string;
}

/** Traces that are exported. */
export interface Tracing {
  /** Exports the remaining traces, for a few seconds at most. */
  stop(): Promise<void>;
}

/** Longest wait for the collector, so that no stop waits for one that is down. */
const EXPORT_TIMEOUT_MS = 5_000;
const STOP_MS = 3_000;

/**
 * Starts to record and export traces. The library is loaded only here: a server without a collector does not pay for it.
 * A collector that does not answer costs traces and a line in the log, and nothing else.
 */
export async function startTracing(options: TracingOptions, logger: Logger): Promise<Tracing> {
  const [api, hooks, resources, sdk, otlp] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  const exporter = new otlp.OTLPTraceExporter({
    url: `${options.endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: { ...options.headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes({
      'service.name': options.serviceName,
      'service.version': VERSION,
    }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(options.sampleRatio) }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_TIMEOUT_MS })],
  });
  const warn = (message: string) =>
    logger.warn({ reason: message.slice(0, 300) }, 'traces were not exported');
  const silent = () => undefined;
  api.diag.setLogger(
    { error: warn, warn, info: silent, debug: silent, verbose: silent },
    api.DiagLogLevel.WARN,
  );
  api.context.setGlobalContextManager(new hooks.AsyncLocalStorageContextManager().enable());
  api.trace.setGlobalTracerProvider(provider);
  return {
    async stop() {
      // The library tries a collector that is down again and again; a stop does not wait for all of that.
      await Promise.race([
        provider.shutdown().catch((err: unknown) => logger.warn({ err }, 'traces were not exported')),
        pause(STOP_MS, undefined, { ref: false }),
      ]);
      api.trace.disable();
      api.context.disable();
      api.diag.disable();
    },
  };
}
