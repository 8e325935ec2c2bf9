import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWarmPool } from '@agent-rental/sandbox';
import type { Config } from '../../config/index.js';
import { createModelGateway } from '../../model-gateway/index.js';
import { createLogger } from '../../platform/logger.js';
import { createOutboundHttp } from '../../platform/outbound-http.js';
import type { ReviewRun } from '../../registration/index.js';
import {
  createConnectedAgents,
  createDeclarativeAgents,
  createSampleRun,
  createWebReader,
} from '../../runs/index.js';
import { openSandboxes } from './open-driver.js';

const MOST_SANDBOXES = 4;
const SANDBOX_MAX_WAIT_MS = 30_000;

/** Runs agents outside a server, as its review does. */
export interface TestRuns {
  readonly run: ReviewRun;
  close(): Promise<void>;
}

/** Opens them on this machine, or at E2B, as the server has its sandboxes. @throws as `openSandboxes` */
export async function openTestRuns(config: Pick<Config, 'sandbox' | 'allowedLoopback'>): Promise<TestRuns> {
  // A new folder: a running server's folder holds sandboxes in use.
  const stateDir = await mkdtemp(join(tmpdir(), 'agent-rental-review-'));
  const logger = createLogger('silent');
  const driver = await openSandboxes(config.sandbox, stateDir, logger);
  const outbound = createOutboundHttp(new Set(config.allowedLoopback), { keepAlive: false });
  const web = createOutboundHttp(new Set(), { keepAlive: false });
  const options = { driver, size: 0, maxActive: MOST_SANDBOXES, maxWaitMs: SANDBOX_MAX_WAIT_MS };
  const runners = createWarmPool({ ...options, entry: 'runner' });
  const evaluators = createWarmPool({ ...options, entry: 'evaluator' });
  const pythonEvaluators =
    driver.capabilities?.python === true
      ? createWarmPool({ ...options, entry: 'evaluator', language: 'python' })
      : undefined;
  const declarative = createDeclarativeAgents({
    runners,
    evaluators,
    ...(pythonEvaluators ? { pythonEvaluators } : {}),
    gateway: createModelGateway(outbound),
    web: createWebReader(web),
  });
  return {
    run: createSampleRun(
      { declarative, runners, connected: createConnectedAgents(outbound) },
      { stopping: new AbortController().signal, logger },
    ),
    async close() {
      await Promise.all([runners.close(), evaluators.close(), pythonEvaluators?.close()]);
      await Promise.all([driver.close(), outbound.close(), web.close()]);
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}
