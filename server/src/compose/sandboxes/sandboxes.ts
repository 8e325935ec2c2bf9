import { createWarmPool } from '@agent-rental/sandbox';
import { createModelGateway } from '../../model-gateway/index.js';
import { countModelCalls, type Metrics } from '../../operations/index.js';
import { createStartGate, createDeclarativeAgents, createWebReader } from '../../runs/index.js';
import { schemaViolations } from '../../platform/json-schema/checks.js';
import { createOutboundHttp, type OutboundHttp } from '../../platform/outbound-http.js';
import type { AppParts } from '../app-parts.js';
import { poolShare, type PoolShare } from './pool-share.js';

/** The pools of sandboxes and the agents that run in them. */
export type Sandboxes = Awaited<ReturnType<typeof composeSandboxes>>;

/** Each pool's share of the driver's sandboxes. */
export interface SandboxShares {
  share: PoolShare;
  runsPython: boolean;
}

/** Divides the driver's sandboxes between the pools: runners, evaluators, and evaluators of Python where it runs. */
export function sandboxShares({ driver, config }: Pick<AppParts, 'driver' | 'config'>): SandboxShares {
  const runsPython = driver.capabilities?.python === true;
  return { share: poolShare(driver, config.sandbox, runsPython ? 3 : 2), runsPython };
}

const SANDBOX_MAX_WAIT_MS = 10_000;

/** Starts the pools of warm sandboxes and composes the runner of declarative agents in them. */
export async function composeSandboxes(
  { driver, logger }: AppParts,
  { share, runsPython }: SandboxShares,
  outbound: OutboundHttp,
  metrics: Metrics,
) {
  const unservedTools: Readonly<Record<string, string>> = runsPython
    ? {}
    : { run_python: `"${driver.name}" does not run Python on this machine. Use run_javascript.` };
  const startGate = createStartGate((seconds) => metrics.agentBegan(seconds));
  const poolOptions = {
    driver,
    ...share,
    maxWaitMs: SANDBOX_MAX_WAIT_MS,
    // A start takes as much of the machine as dozens of runs take to begin.
    isBusy: () => startGate.pending > 0,
    onStartFailure: (err: unknown) => logger.error({ err }, 'a sandbox could not be started'),
  };
  const runners = createWarmPool({ ...poolOptions, entry: 'runner' });
  const evaluators = createWarmPool({
    ...poolOptions,
    entry: 'evaluator',
    size: Math.ceil(share.size / 2),
  });
  const pythonEvaluators = runsPython
    ? createWarmPool({ ...poolOptions, entry: 'evaluator', language: 'python', size: 1 })
    : undefined;
  // The first check of a schema starts its thread: no renter has to wait for that.
  await Promise.all([
    runners.ready(),
    evaluators.ready(),
    pythonEvaluators?.ready(),
    schemaViolations({ type: 'null' }, null),
  ]);
  // Without the exceptions of `outbound`: an agent's pages are never the examples' own addresses.
  const web = createOutboundHttp(new Set(), { keepAlive: false });
  const declarative = createDeclarativeAgents({
    runners,
    evaluators,
    ...(pythonEvaluators ? { pythonEvaluators } : {}),
    gateway: countModelCalls(createModelGateway(outbound), metrics),
    web: createWebReader(web),
  });
  return {
    declarative,
    runners,
    startGate,
    unservedTools,
    stats: () => runners.stats(),
    statsByPool: {
      runner: () => runners.stats(),
      evaluator: () => evaluators.stats(),
      ...(pythonEvaluators ? { python: () => pythonEvaluators.stats() } : {}),
    },
    async close(): Promise<void> {
      await Promise.all([runners.close(), evaluators.close(), pythonEvaluators?.close(), web.close()]);
    },
  };
}
