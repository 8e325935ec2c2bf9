import { createStandIn, hangingAgent, STAND_IN_API_KEY, type StandIn } from '@agent-rental/stand-in';
import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MCP_CLIENTS } from './testing/mcp-clients.js';
import { connect as connectTo, message, OPENING } from './testing/opened.js';

const BIN = fileURLToPath(new URL('../dist/bin.js', import.meta.url));

async function listen(standIn: StandIn): Promise<string> {
  const served = await standIn.listen();
  onTestFinished(served.close);
  return served.baseUrl;
}

const connect = (name: string, env: Record<string, string>) =>
  connectTo(name, { command: process.execPath, args: [BIN], env });

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent rental '));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** The path of a wallet file in the form of the Solana tools: 32 bytes of seed, 32 of public key. */
async function walletFile(): Promise<string> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  const keypair = [...seed, ...publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)];
  const path = join(await newFolder(), 'wallet.json');
  await writeFile(path, JSON.stringify(keypair));
  return path;
}

function start(args: string[], env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, [BIN, ...args], { env, stdio: 'pipe' });
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  });
  return child;
}

async function run(args: string[], env: Record<string, string>) {
  const child = start(args, env);
  const outputs = [text(child.stdout!), text(child.stderr!)] as const;
  const [out, err, [code]] = await Promise.all([...outputs, once(child, 'close')]);
  return { code: code as number, out, err };
}

describe.each(Object.keys(MCP_CLIENTS))('MCP over stdio with %s', (name) => {
  it('lists, runs and cancels with an API key', async () => {
    const agent = hangingAgent();
    const standIn = createStandIn([{ id: 'echo-aaaaaa' }, { id: 'slow-aaaaaa', run: agent.run }]);
    const baseUrl = await listen(standIn);
    const client = await connect(name, { AGENT_RENTAL_URL: baseUrl, AGENT_RENTAL_API_KEY: STAND_IN_API_KEY });
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain('echo_aaaaaa');
    expect(await client.callTool('echo_aaaaaa', { task: 't' })).toMatchObject({
      structuredContent: { output: { task: 't' } },
    });

    const controller = new AbortController();
    const calling = client.callTool('slow_aaaaaa', { task: 't' }, { signal: controller.signal });
    await agent.started;
    controller.abort(new Error('enough'));
    await expect(calling).rejects.toThrow(/enough|aborted/);
    await agent.aborted;
  });
});

describe('agent-rental-mcp', () => {
  it('logs in with a wallet file', async () => {
    const env = {
      AGENT_RENTAL_URL: await listen(createStandIn([{ id: 'echo-aaaaaa' }])),
      AGENT_RENTAL_WALLET: await walletFile(),
    };
    const client = await connect('SDK v1 (2025-11-25)', env);
    expect((await client.listTools()).tools).toHaveLength(9);
  });

  it('signs in only to the configured domain [ID-54]', async () => {
    const child = start([], {
      AGENT_RENTAL_URL: await listen(createStandIn([{ id: 'echo-aaaaaa' }])),
      AGENT_RENTAL_WALLET: await walletFile(),
      AGENT_RENTAL_DOMAIN: 'market.example',
    });
    const [line] = (await once(child.stderr!, 'data')) as [Buffer];
    child.stdin?.end();
    expect(line.toString()).toContain('asks to sign in to "127.0.0.1');
    expect(line.toString()).toContain('is reached as market.example');
  });

  it('remembers the spends of an API key over a restart', async () => {
    const listing = { id: 'echo-aaaaaa', rental_model: 'per_query', price_lamports: 1_000_000 } as const;
    const env = {
      AGENT_RENTAL_URL: await listen(createStandIn([listing])),
      AGENT_RENTAL_API_KEY: STAND_IN_API_KEY,
      AGENT_RENTAL_MAX_DAY_SOL: '0.0015',
      AGENT_RENTAL_SPENDING_DIR: await newFolder(),
    };
    const call = async () => {
      const client = await connect('SDK v1 (2025-11-25)', env);
      const result = await client.callTool('echo_aaaaaa', { task: 't' });
      await client.close();
      return result;
    };
    expect((await call()).isError).toBeFalsy();
    expect(await call()).toMatchObject({
      isError: true,
      _meta: { 'agent-rental/error': { code: 'spending_refused' } },
    });
  });

  it('names the fault of the key on stderr, and to the model [ADP-15]', async () => {
    const baseUrl = await listen(createStandIn([{ id: 'echo-aaaaaa' }]));
    const env = { AGENT_RENTAL_URL: baseUrl, AGENT_RENTAL_API_KEY: 'ark_dev_wrong' };
    const child = start([], env);
    const [line] = (await once(child.stderr!, 'data')) as [Buffer];
    expect(line.toString()).toBe(
      'agent-rental-mcp: invalid_api_key: The API key is not valid or was revoked. Set AGENT_RENTAL_API_KEY to a key of the ' +
        'marketplace at AGENT_RENTAL_URL, or AGENT_RENTAL_WALLET, and start again.\n',
    );
    child.stdin?.end();
    await once(child, 'close');
    const client = await connect('SDK v1 (2025-11-25)', env);
    const result = await client.callTool('search_listings', { query: 'x' });
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'agent-rental/error': { code: 'invalid_api_key' } },
    });
  });

  it('ends, and ends its run, when its client goes away in the middle of a call', async () => {
    const agent = hangingAgent();
    const baseUrl = await listen(createStandIn([{ id: 'slow-aaaaaa', run: agent.run }]));
    const child = start([], { AGENT_RENTAL_URL: baseUrl, AGENT_RENTAL_API_KEY: STAND_IN_API_KEY });
    const ended = once(child, 'close');
    const params = { name: 'slow_aaaaaa', arguments: { task: 't' } };
    for (const line of [
      message('initialize', OPENING, 1),
      message('notifications/initialized', undefined),
      message('tools/call', params, 2),
    ])
      child.stdin?.write(`${line}\n`);
    await agent.started;
    child.stdin?.end();
    await agent.aborted;
    expect(await ended).toEqual([0, null]);
  });

  it.each([
    [{}, 'Set AGENT_RENTAL_API_KEY, or AGENT_RENTAL_WALLET'],
    [{ AGENT_RENTAL_URL: 'market', AGENT_RENTAL_API_KEY: 'x' }, 'AGENT_RENTAL_URL is not a web address'],
    [{ AGENT_RENTAL_WALLET: '/nowhere/wallet.json' }, '/nowhere/wallet.json cannot be read.'],
    [{ AGENT_RENTAL_WALLET: BIN }, 'is not a keypair file'],
    [
      { AGENT_RENTAL_API_KEY: 'x', AGENT_RENTAL_MAX_DAY_SOL: '-1' },
      'AGENT_RENTAL_MAX_DAY_SOL is not an amount',
    ],
    [{ AGENT_RENTAL_API_KEY: 'x', AGENT_RENTAL_TOOLS: 'Not an id' }, 'AGENT_RENTAL_TOOLS cannot be read'],
    [
      { AGENT_RENTAL_API_KEY: 'x', AGENT_RENTAL_WAIT_SECONDS: '0' },
      'AGENT_RENTAL_WAIT_SECONDS is not a number',
    ],
    [
      { AGENT_RENTAL_API_KEY: 'x', AGENT_RENTAL_PROGRAM_ID: 'mine' },
      "AGENT_RENTAL_PROGRAM_ID is not a program's address",
    ],
  ])('ends with one line when it is not set up (%#)', async (env: Record<string, string>, message) => {
    const { code, out, err } = await run([], env);
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(err).toMatch(/^agent-rental-mcp: .*\n$/);
    expect(err).toContain(message);
  });

  it.each([
    ['--help', 0, { out: expect.stringContaining('AGENT_RENTAL_WALLET') as string }],
    ['--version', 0, { out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string }],
    ['--nonsense', 2, { err: expect.stringContaining('--help') as string }],
  ])('explains itself: %s', async (argument, code, said) => {
    expect(await run([argument], {})).toMatchObject({ code, ...said });
  });
});
