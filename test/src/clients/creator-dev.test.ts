import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { FORM, IS_QUICK, sampleOf } from '../support/form.js';
import { mcpInspector } from '../support/toolchains/mcp-inspector.js';
import { CLI, freePort, MODULES, openWorkshop } from '../support/workshop.js';

/** Nothing listens on the discard port. */
const NOWHERE = 'http://127.0.0.1:9';

let agentPort: number;
let modelPort: number;
beforeAll(async () => {
  [agentPort, modelPort] = [await freePort(), await freePort()];
});

/** A new agent of a template, on ports that are free. */
async function newAgent(template: string): Promise<{ folder: string; agent: string }> {
  const { folder, cli } = await openWorkshop({ base_url: NOWHERE, rpc_url: NOWHERE });
  const agent = join(folder, 'tried-agent');
  await cli(folder, 'init', 'tried-agent', '--template', template);
  await symlink(MODULES, join(agent, 'node_modules'));
  const file = join(agent, 'agent.json');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace(':8788', `:${agentPort}`).replace(':8789', `:${modelPort}`));
  return { folder, agent };
}

describe('a creator who tries an agent before it is published', () => {
  /** `agent-rental dev` of a template, once it is ready. */
  async function dev(template: string) {
    const { folder, agent } = await newAgent(template);
    const child = spawn(process.execPath, [CLI, 'dev', '--json', '--port', '0'], {
      cwd: agent,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exited = once(child, 'exit');
    let told = '';
    child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
    const end = async (): Promise<unknown> => {
      if (child.exitCode === null) child.kill('SIGINT');
      return (await exited)[0];
    };
    onTestFinished(async () => {
      await end();
    });
    const [line] = (await Promise.race([
      once(child.stdout, 'data'),
      exited.then(() => Promise.reject(new Error(`It ended: ${told}`))),
    ])) as [Buffer];
    const ready = JSON.parse(line.toString()) as {
      mcp_url: string;
      execute_url: string;
      listing_id: string;
      request: object;
    };
    const run = async () => {
      const response = await fetch(ready.execute_url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(ready.request),
      });
      return (await response.json()) as { status: string; output: unknown; cost_lamports: number };
    };
    return { agent, ready, run, told: () => told, end, left: () => readdir(folder) };
  }

  it('calls it as a renter does, over HTTP and MCP, and an edit of the prompt is live in the next call [REG-64]', async () => {
    const { agent, ready, run, told, end, left } = await dev('prompt');
    expect(await run()).toMatchObject({ status: 'completed', cost_lamports: 1_000_000 });
    for (const prompt of ['Sing the text.', 'Whisper the text.']) {
      await writeFile(join(agent, 'prompt.md'), prompt);
      expect((await run()).output).toContain(prompt);
    }

    const client = new Client({ name: 'tried', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(ready.mcp_url)));
    const { tools } = await client.listTools();
    const tool = tools.find(({ inputSchema }) => JSON.stringify(inputSchema).includes(ready.listing_id));
    expect(tool).toBeDefined();
    const called = await client.callTool({
      name: tool?.name ?? '',
      arguments: { task: 'Do it.', input: { text: 'a' } },
    });
    expect(JSON.stringify(called.content)).toContain('Whisper the text.');
    await client.close();

    await expect.poll(told, { timeout: 15_000 }).toMatch(/charged 0\.001 SOL \(local\)/);
    // A page in the browser of this machine may not spend.
    const page = await fetch(ready.execute_url, { headers: { origin: 'https://page.example.com' } });
    expect(page.status).toBe(403);
    expect(await end()).toBe(0);
    // The session leaves nothing behind.
    expect(await left()).toEqual(['tried-agent']);
  }, 120_000);

  it('runs the program of a connected agent, and starts it anew when it is edited [REG-64]', async () => {
    const { agent, run, end } = await dev('typescript');
    expect(await run()).toMatchObject({ status: 'completed', output: { words: 6 } });
    const file = join(agent, 'agent.ts');
    await writeFile(file, (await readFile(file, 'utf8')).replace('words: words.length', 'words: 42'));
    expect(await run()).toMatchObject({ output: { words: 42 } });
    expect(await end()).toBe(0);
  }, 120_000);

  // Installing the Inspector takes longer than its calls. Other MCP clients make the same calls.
  it.skipIf(FORM !== 'full')(
    'is listed and called by the Inspector of MCP, an edit included [REG-64]',
    async () => {
      const inspector = await mcpInspector();
      const { agent, ready, end } = await dev('prompt');
      const at = [ready.mcp_url, '--transport', 'http', '--format', 'json'];
      const listed = await inspector(...at, '--method', 'tools/list');
      expect(listed).toMatchObject({ code: 0 });
      const name = /"name": ?"(tried-agent[^"]*|[^"]*tried_agent[^"]*)"/.exec(listed.stdout)?.[1] ?? '';
      expect(name, listed.stdout).not.toBe('');
      for (const prompt of ['Sing the text.', 'Whisper the text.']) {
        await writeFile(join(agent, 'prompt.md'), prompt);
        const call = ['--method', 'tools/call', '--tool-name', name];
        const given = ['--tool-arg', 'task=Do it.', '--tool-arg', 'input={"text":"a"}'];
        const called = await inspector(...at, ...call, ...given);
        expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining(prompt) as string });
      }
      expect(await end()).toBe(0);
    },
    300_000,
  );
});

/** Steps of `agent-rental dev`, by the words with which each begins. */
const STEPS = [
  'Starting a marketplace',
  'Starting the agent',
  'Registering the agent',
  'Waiting for the review',
  'Publishing it on-chain',
  'Renting it',
  'as any renter has it',
];

describe.skipIf(IS_QUICK)('agent-rental dev in a terminal', () => {
  it.each(sampleOf(STEPS, 1))(
    'is ended by Ctrl-C at "%s", and leaves no process and no file [REG-64]',
    async (step) => {
      const { folder, agent } = await newAgent('typescript');
      const command = `stty cols 80 rows 24 && exec '${process.execPath}' '${CLI}' dev --port 0`;
      const child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
        cwd: agent,
        env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, SHELL: '/bin/sh', TERM: 'xterm' },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      const exited = once(child, 'exit') as Promise<[number | null]>;
      let shown = '';
      const reached = new Promise<void>((resolve) => {
        child.stdout.on('data', (chunk: Buffer) => {
          shown += chunk.toString();
          if (shown.includes(step)) resolve();
        });
      });
      await Promise.race([reached, exited.then(() => Promise.reject(new Error(shown)))]);
      child.stdin.write('\u0003');
      const [code] = await exited;
      expect(code, shown).toBe(step === STEPS.at(-1) ? 0 : 130);
      expect(shown).not.toContain('\u001b');
      // Each process of the session has the folder in its arguments or its environment.
      const { stdout } = spawnSync('ps', ['-eo', 'pid,args', 'e'], {
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
      });
      expect(stdout.split('\n').filter((line) => line.includes(folder))).toEqual([]);
      // The files of Node and npm, and the cache of tsx, which runs the agent, do not belong to the session.
      const left = (await readdir(folder)).filter((name) => !/^(?:\.|tsx-|node-compile-cache)/.test(name));
      expect(left).toEqual(['tried-agent']);
    },
    120_000,
  );
});
