import type { RunFailureClass } from '@agent-rental/contract';
import { ModelLimitError, type ModelGateway } from '../model-gateway/index.js';
import { traced } from '../platform/tracing/spans.js';
import { ContentRefusal, type ContentReader } from '../storage/index.js';
import type { Metrics } from './metrics.js';

/** The end of a run, as it is counted. */
interface EndedRun {
  status: 'completed' | 'failed';
  failure?: { class: RunFailureClass };
}

/** The counted calls of the store of runs. */
interface CountedRuns {
  /** Resolves with undefined when the run does not begin. */
  begin(run: never, how?: never): Promise<object | undefined>;
  finish(run: EndedRun, salt?: Buffer): Promise<void>;
  hold(run: EndedRun, salt?: Buffer): Promise<void>;
  discard(runId: string, error: never, failure?: never): Promise<void>;
  markUndelivered(runId: string, error: never, end: never): Promise<void>;
}

/** The store of runs, with each beginning and end counted. */
export function countRuns<R extends CountedRuns>(runs: R, metrics: Metrics): R {
  const counted: CountedRuns = {
    async begin(run, how) {
      const entry = await runs.begin(run, how);
      if (entry !== undefined) metrics.runBegan();
      return entry;
    },
    async finish(run, salt) {
      await runs.finish(run, salt);
      metrics.runEnded(run.status);
      if (run.failure) metrics.runFailed(run.failure.class);
    },
    async hold(run, salt) {
      await runs.hold(run, salt);
      metrics.runEnded('held');
      if (run.failure) metrics.runFailed(run.failure.class);
    },
    async discard(runId, error, failure) {
      await runs.discard(runId, error, failure);
      metrics.runEnded('refused');
    },
    async markUndelivered(runId, error, end) {
      await runs.markUndelivered(runId, error, end);
      metrics.runEnded('undelivered');
    },
  };
  return { ...runs, ...counted };
}

/** The gateway, with each call of a model counted, timed and traced. */
export function countModelCalls(gateway: ModelGateway, metrics: Pick<Metrics, 'modelCalled'>): ModelGateway {
  return {
    open(agent) {
      const session = gateway.open(agent);
      const { provider } = agent.model;
      return {
        get usage() {
          return session.usage;
        },
        async complete(request, options) {
          const beganAt = performance.now();
          const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': provider };
          const end = (outcome: 'completed' | 'limit' | 'stopped' | 'unavailable') =>
            metrics.modelCalled({ provider, outcome, seconds: (performance.now() - beganAt) / 1000 });
          try {
            const result = await traced('model.complete', { kind: 'client', attributes }, () =>
              session.complete(request, options),
            );
            end('completed');
            return result;
          } catch (error) {
            const isLimit = error instanceof ModelLimitError;
            end(isLimit ? 'limit' : options.signal.aborted ? 'stopped' : 'unavailable');
            throw error;
          }
        },
      };
    },
  };
}

/** The reader of stored content, with each read counted, timed and traced. */
export function countReads(reader: ContentReader, metrics: Pick<Metrics, 'contentRead'>): ContentReader {
  return {
    async read(uri, limits) {
      const beganAt = performance.now();
      const scheme = uri.startsWith('ar://') ? 'ar' : 'ipfs';
      const end = (outcome: 'read' | 'refused' | 'unavailable') =>
        metrics.contentRead({ scheme, outcome, seconds: (performance.now() - beganAt) / 1000 });
      try {
        const content = await traced(`content.read ${scheme}`, { kind: 'client' }, () =>
          reader.read(uri, limits),
        );
        end('read');
        return content;
      } catch (error) {
        end(error instanceof ContentRefusal ? 'refused' : 'unavailable');
        throw error;
      }
    },
  };
}
