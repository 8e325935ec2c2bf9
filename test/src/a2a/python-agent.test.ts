import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { rentedTools as aiSdkTools } from '@agent-rental/ai-sdk';
import { rentedTools as langchainTools } from '@agent-rental/langchain';
import { isApiError } from '@agent-rental/sdk';
import { generateText, stepCountIs } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { AIMessage, createAgent, fakeModel, ToolMessage } from 'langchain';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rentAgent } from '../support/agents/agents.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { until } from '../support/timing/until.js';
import { sampleOf } from '../support/form.js';
import { pythonInFullForm } from '../support/toolchains/python-environment.js';
import { CLI, freePort } from '../support/workshop.js';
import { asTask, connect, message, outputOf } from './a2a-client.js';

/** Price of a run, as the command writes it. */
const PRICE = 1_000_000;

const file = (name: string) => fileURLToPath(new URL(`../../src/a2a/python/${name}`, import.meta.url));
/** The versions of the protocol, with their SDKs and agents: in CI one of the two. */
const VERSIONS = await Promise.all(
  sampleOf(
    [
      { version: '1.0', script: 'agent.py', requirements: 'requirements.txt' },
      { version: '0.3', script: 'agent_0_3.py', requirements: 'requirements-0.3.txt' },
    ],
    1,
  ).map(async (one) => ({ ...one, environment: await pythonInFullForm(file(one.requirements)) })),
);
const isMissing = VERSIONS.some(({ environment }) => 'missing' in environment);

let stateDir: string;
let folder: string;
let marketplace: OwnMarketplace;
let agent: ChildProcess;
/** Lines that the agent prints. */
const lines: string[] = [];
let agentId: string;
let renter: Participant;

async function runCli(...args: string[]): Promise<{ code: number | null; output: string }> {
  const { base_url, rpc_url } = marketplace.dev;
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    AGENT_RENTAL_URL: base_url,
    AGENT_RENTAL_RPC_URL: rpc_url,
  };
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

describe.skipIf(isMissing).each(VERSIONS)(
  'an agent of the Python SDK of A2A $version, published by its card',
  ({ script, environment }) => {
    beforeAll(async () => {
      if ('missing' in environment) return;
      lines.length = 0;
      const port = await freePort();
      const origin = `http://127.0.0.1:${port}`;
      agent = spawn(environment.python, [file(script)], {
        env: { PORT: String(port) },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      if (agent.stdout) createInterface({ input: agent.stdout }).on('line', (line) => lines.push(line));
      stateDir = await newStateDir();
      folder = await mkdtemp(join(tmpdir(), 'a2a-agent-'));
      marketplace = await startMarketplace(stateDir, { EXAMPLES: 'off', ALLOW_LOOPBACK: origin });
      const card = `${origin}/.well-known/agent-card.json`;
      await until(
        () =>
          fetch(card).then(
            ({ ok }) => ok,
            () => false,
          ),
        60_000,
      );
      expect(await runCli('wallet', 'create', '--fund', '1', '--airdrop')).toMatchObject({ code: 0 });
      const written = await runCli('publish', '--a2a', card);
      expect(written).toMatchObject({ code: 0 });
      const again = await runCli('publish', '--a2a', card);
      expect(again).toMatchObject({ code: 1, output: expect.stringContaining('already') as string });
      const manifest = JSON.parse(await readFile(join(folder, 'agent.json'), 'utf8')) as object;
      expect(manifest).toMatchObject({
        name: 'word-counter',
        entrypoint_url: card,
        output_schema: { type: 'string' },
      });
      const published = await runCli('publish', '--json');
      expect(published).toMatchObject({ code: 0 });
      agentId = /"listing_id":\s*"([^"]+)"/.exec(published.output)?.[1] ?? '';
      renter = await newParticipant(marketplace);
      // Enough at the price of the command.
      await rentAgent(renter, agentId, 50);
    }, 240_000);
    afterAll(async () => {
      agent.kill();
      await marketplace.stop();
      await removeStateDir(stateDir);
      await rm(folder, { recursive: true, force: true });
    });

    const costs = async () => (await renter.client.listRuns()).runs.map(({ cost_lamports }) => cost_lamports);

    test('runs over HTTP and streams, over MCP and over A2A, and is paid once each [ADP-32]', async () => {
      const deltas: string[] = [];
      for await (const { event, data } of renter.client.executeStream({
        agent_id: agentId,
        task: 'one two three',
      }))
        if (event === 'output') deltas.push(data.delta);
      expect(deltas.join('')).toBe('The text has 3 words.');
      expect(await overMcp('four words are here')).toContain('The text has 4 words.');
      const client = await connect(`${marketplace.dev.base_url}/a2a/${agentId}`, renter.token);
      expect(outputOf(asTask(await client.sendMessage(message('two words'))))).toBe('The text has 2 words.');
      expect(await costs()).toEqual([PRICE, PRICE, PRICE]);
    });

    test('is a tool of a LangChain agent and of the AI SDK, and is paid once each [ADP-32]', async () => {
      const before = (await costs()).length;
      expect(await inLangChain('five words of a text')).toContain('The text has 5 words.');
      expect(await inAiSdk('and now six words of it')).toContain('The text has 6 words.');
      expect(await costs()).toHaveLength(before + 2);
    });

    test('fails as its task fails', async () => {
      const run = await renter.client.execute({ agent_id: agentId, task: 'fail' });
      expect(run).toMatchObject({ status: 'failed', cost_lamports: PRICE });
    });

    test('is told that its run was cancelled [ADP-32]', async () => {
      const started = await renter.client.executeAsync(
        { agent_id: agentId, task: 'wait' },
        { waitSeconds: 0 },
      );
      await until(async () => lines.includes('waiting'), 30_000);
      await renter.client.cancelRun(started.run_id).catch((error: unknown) => {
        if (!isApiError(error)) throw error;
      });
      await until(async () => lines.includes('cancelled'), 30_000);
    });
  },
);

async function overMcp(task: string): Promise<string> {
  const answer = await fetch(`${marketplace.dev.base_url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${renter.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'run_agent', arguments: { agent_id: agentId, task } },
    }),
  });
  return answer.text();
}

const toolName = () => agentId.replaceAll('-', '_');

async function inLangChain(task: string): Promise<string> {
  const model = fakeModel()
    .respondWithTools([{ name: toolName(), args: { task }, id: 'call_1' }])
    .respond(new AIMessage('Done.'));
  const agent = createAgent({ model, tools: await langchainTools(renter.client) });
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Go.' }] });
  return messages.find((message) => ToolMessage.isInstance(message))?.text ?? '';
}

async function inAiSdk(task: string): Promise<string> {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const toolCall = {
    type: 'tool-call' as const,
    toolCallId: 'call_1',
    toolName: toolName(),
    input: JSON.stringify({ task }),
  };
  const model = new MockLanguageModelV3({
    doGenerate: [
      { content: [toolCall], finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] },
      {
        content: [{ type: 'text', text: 'Done.' }],
        finishReason: { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });
  const tools = await aiSdkTools(renter.client);
  const { steps } = await generateText({ model, tools, prompt: 'Go.', stopWhen: stepCountIs(2) });
  return JSON.stringify(steps.flatMap(({ toolResults }) => toolResults));
}
