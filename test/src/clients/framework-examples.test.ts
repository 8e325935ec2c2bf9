import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { RunEvent } from '@agent-rental/contract';
import { publish } from '@agent-rental/sdk/solana';
import { npmTool } from '@agent-rental/stand-in/npm-tool';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { ROOT } from '../docs/repository.js';
import { jobEnd, PRICE, rentAgent, textAgent } from '../support/agents/agents.js';
import {
  heldTask,
  slowAnswer,
  slowTask,
  startSlowAgents,
  type SlowAgents,
} from '../support/agents/slow-agents.js';
import { IS_QUICK, sampleOf } from '../support/form.js';
import { takePort } from '../support/loopback-ports.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { until } from '../support/timing/until.js';
import { MODULES } from '../support/workshop.js';

const EXAMPLES = join(ROOT, 'examples/dist/frameworks');
/** The programs, and whether their answers come in pieces. */
const PROGRAMS = {
  'ai-sdk': { args: [join(EXAMPLES, 'ai-sdk-agent.js')], streams: true },
  langgraph: { args: [join(EXAMPLES, 'langgraph-agent.js')], streams: true },
  mastra: { args: ['agent.js'], streams: true },
  'mcp-tool': {
    args: [join(EXAMPLES, 'mcp-tool-agent.js'), 'rewrite', process.execPath, join(EXAMPLES, 'mcp-server.js')],
    streams: false,
  },
};
type Name = keyof typeof PROGRAMS;
/** The programs of this run: in CI two of the four. */
const NAMES = sampleOf(Object.keys(PROGRAMS) as Name[], 2);

let model: SlowAgents;
let folder: string;
let marketplace: Marketplace;
let creator: Participant;
const ports = new Map<Name, number>();
const children: ChildProcess[] = [];

/** The folder of the example of Mastra, with the packages that its `package.json` names. */
async function installMastra(): Promise<void> {
  const mastra = await npmTool('@mastra/core', '1.71.0', 'package.json', ['zod@4.6.7']);
  await cp(join(ROOT, 'examples/mastra'), folder, { recursive: true });
  await mkdir(join(folder, 'node_modules'));
  await symlink(dirname(dirname(mastra)), join(folder, 'node_modules/@mastra'));
  await symlink(join(MODULES, '@agent-rental'), join(folder, 'node_modules/@agent-rental'));
}

const secretFile = (name: Name) => join(folder, `${name}.webhook-secret`);

/** Starts an example until the tests end; gives its address. */
async function startExample(name: Name): Promise<string> {
  const child = spawn(process.execPath, PROGRAMS[name].args, {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      PORT: String(ports.get(name)),
      WEBHOOK_SECRET_FILE: secretFile(name),
      MODEL_BASE_URL: model.modelUrl,
      MODEL_NAME: 'stand-in',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  return /The agent listens at (.*)/.exec(line)?.[1] ?? '';
}

/** Publishes an example and rents it for a new wallet. */
async function rented(name: Name): Promise<{ agentId: string; renter: Participant }> {
  const entrypoint_url = await startExample(name);
  const { system_prompt: _, ...manifest } = textAgent(model.modelUrl, {
    name: `${name}-agent`,
    entrypoint_url,
  });
  const { job_id, webhook_secret = '' } = await creator.client.registerAgent(manifest);
  await writeFile(secretFile(name), webhook_secret);
  const job = await jobEnd(creator.client, job_id);
  const agentId = job.result?.listing_id ?? '';
  await publish(creator.client, creator.signer, agentId);
  const renter = await newParticipant(marketplace);
  await rentAgent(renter, agentId, 5);
  return { agentId, renter };
}

describe.skipIf(IS_QUICK)('the examples of frameworks', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-rental-frameworks-'));
    if (NAMES.includes('mastra')) await installMastra();
    model = await startSlowAgents(undefined, await takePort());
    for (const name of NAMES) ports.set(name, await takePort());
    marketplace = await attach(inject('stateDir'));
    creator = await newParticipant(marketplace);
  }, 400_000);
  afterAll(async () => {
    for (const child of children) child.kill();
    await model?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test.each(NAMES)(
    'the agent of %s is rented, answers, and hears that its run was cancelled [SDK-10]',
    async (name) => {
      const { agentId, renter } = await rented(name);
      const body = (text: string) => ({ agent_id: agentId, task: 'Rewrite the text.', input: { text } });
      const events: RunEvent[] = [];
      for await (const event of renter.client.executeStream(body(slowTask(200, name)))) events.push(event);
      expect(events.at(-1)?.data).toMatchObject({ output: slowAnswer(name), cost_lamports: PRICE });
      // Before the last event there is one for each piece.
      expect(events.length > 2).toBe(PROGRAMS[name].streams);

      const held = heldTask(name);
      const { run_id } = await renter.client.executeAsync(body(held), { waitSeconds: 0 });
      await model.reached(name);
      expect(model.open).toBe(1);
      await renter.client.cancelRun(run_id);
      // The framework has broken off the call of its model.
      await until(async () => model.open === 0);
    },
    120_000,
  );
});
