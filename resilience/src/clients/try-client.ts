import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from './clients.js';
import type { Installed } from './install.js';
import type { Market } from '../retries/slow-market.js';
import type { Scenario } from './scenarios.js';
import { startScriptedModel } from './model/scripted-model.js';

const MAX_OUTPUT = 200_000;

export type Trial = Awaited<ReturnType<typeof tryClient>>;

/** Runs an unmodified client once against a marketplace, with a new renter. */
export async function tryClient(market: Market, client: Client, scenario: Scenario, installed: Installed) {
  const renter = await market.newRenter(scenario.paidRuns);
  const args = { agent_id: renter.agentId, task: scenario.task, ...scenario.args };
  const wish = { tool: 'run_agent', args };
  const model = await startScriptedModel(wish);
  // An empty home folder, as on a new machine.
  const home = await mkdtemp(join(tmpdir(), 'agent-rental-client-'));
  const startedAt = performance.now();
  try {
    const said = await output(installed, home, scenario.timeoutMs, {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      PYTHONUNBUFFERED: '1',
      MCP_URL: market.mcpUrl,
      TOKEN: renter.token,
      WISH: JSON.stringify(wish),
      PROMPT: 'Have the agent do its task.',
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_API_KEY: 'scripted',
      ANTHROPIC_BASE_URL: new URL('/', model.baseUrl).origin,
      ANTHROPIC_API_KEY: 'scripted',
    });
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    const costs = await renter.costs();
    const charges = costs.filter((cost) => cost > 0).length;
    return {
      client: client.name,
      scenario: scenario.name,
      isRight: scenario.answer.test(said) && charges === scenario.charges,
      /** Calls that its model asked for; 0 for clients without a model. */
      calls: model.steps.length,
      /** In lamports, of each run. */
      costs,
      seconds,
      said: said.trim().slice(-400),
    };
  } finally {
    await model.close();
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function output(
  { file, args }: Installed,
  home: string,
  timeoutMs: number,
  env: Record<string, string>,
): Promise<string> {
  const child = spawn(file, args, { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (printed = (printed + chunk.toString()).slice(-MAX_OUTPUT)));
  await once(child, 'close');
  return printed;
}
