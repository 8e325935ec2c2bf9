import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newAgent } from './new-agent.test-support.js';
import { createProgram } from './program.js';

const BIN = fileURLToPath(new URL('../dist/bin.js', import.meta.url));
const CTRL_C = '\u0003';
const execute = promisify(execFile);

/** `script` of util-linux brings a terminal. */
const hasTerminal = spawnSync('script', ['--version']).stdout?.toString().includes('util-linux') ?? false;
if (!hasTerminal)
  process.stderr.write('The command line in a terminal was NOT RUN: there is no script(1).\n');

/**
 * A server in place of marketplace and RPC endpoint, which accepts requests and never answers.
 *
 * @param network its answer about its network, if it gives that one
 */
async function silentServer(network?: object): Promise<{ url: string; asked: Promise<unknown> }> {
  const server = createServer(({ url }, response) => {
    if (network === undefined || url !== '/v1/network') return;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(network));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked: once(server, 'request') };
}

/** Starts a program in a terminal of 80 columns. */
function inTerminal(cwd: string, env: Record<string, string>, program: readonly string[]) {
  const quoted = program.map((word) => `'${word}'`).join(' ');
  const command = `stty cols 80 rows 24 && exec ${quoted}`;
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: cwd, SHELL: '/bin/sh', TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  onTestFinished(() => void child.kill('SIGKILL'));
  let shown = '';
  const waiting = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
    for (const look of waiting) look();
  });
  return {
    type: (text: string) => child.stdin.write(text),
    /** Waits for a text in the output after `from`. */
    shown: (text: string, from = 0) =>
      new Promise<void>((resolve) => {
        const look = () =>
          stripVTControlCharacters(shown.slice(from)).includes(text) && waiting.delete(look) && resolve();
        waiting.add(look);
        look();
      }),
    length: () => shown.length,
    end: async () => {
      const [code] = await exited;
      return { code, shown: shown.replaceAll('\r\n', '\n') };
    },
  };
}

/** A call of every command that waits for a marketplace or a chain. */
const WAITING = [
  ['publish'],
  ['agents'],
  ['update', 'an-agent-aaaaaa'],
  ['rollback', 'an-agent-aaaaaa'],
  ['rotate-secret', 'an-agent-aaaaaa'],
  ['logs', 'an-agent-aaaaaa', '--follow'],
  ['stats', 'an-agent-aaaaaa'],
  ['reviews', 'an-agent-aaaaaa'],
  ['answer', 'an-agent-aaaaaa', '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin', 'Thank you.'],
  ['pause', 'an-agent-aaaaaa'],
  ['resume', 'an-agent-aaaaaa'],
  ['close', 'an-agent-aaaaaa', '--yes'],
  ['withdraw', 'an-agent-aaaaaa'],
  ['earnings'],
  ['rent', 'an-agent-aaaaaa', '--yes'],
  ['reclaim', 'an-agent-aaaaaa'],
  ['run', 'an-agent-aaaaaa', 'Do it.'],
  ['events'],
  ['low-balance', '5'],
  ['webhooks', 'list'],
  ['wallet', 'balance'],
  ['wallet', 'fund', '--sol', '1', '--airdrop'],
];

it('the tests below have every command that calls a marketplace', () => {
  const { commands } = createProgram({} as Parameters<typeof createProgram>[0]);
  const calling = commands.filter(({ options }) => options.some(({ long }) => long === '--wallet'));
  const tried = new Set(WAITING.map(([name]) => name));
  expect(calling.map((command) => command.name()).filter((name) => !tried.has(name))).toEqual([]);
});

describe.skipIf(!hasTerminal)('the command line in a terminal of 80 columns', () => {
  it.each(WAITING)('ends at Ctrl-C while %s waits, and leaves nothing behind [REG-64]', async (...args) => {
    const cwd = await newAgent();
    const before = await readdir(cwd);
    const { url, asked } = await silentServer();
    const terminal = inTerminal(cwd, { AGENT_RENTAL_URL: url, AGENT_RENTAL_RPC_URL: url }, [
      process.execPath,
      BIN,
      ...args,
    ]);
    await asked;
    terminal.type(CTRL_C);
    const { code, shown } = await terminal.end();
    expect(code).toBe(130);
    const lines = shown.trimEnd().split('\n');
    expect(lines.at(-1)).toMatch(/^(?:\^C)?agent-rental: Ended by Ctrl-C\./);
    // Plain text, without control sequences: good in a file, for a screen reader, and in a window of any width.
    expect(shown).not.toContain('\u001b');
    expect(await readdir(cwd)).toEqual(before);
  });

  it('asks before it closes a listing, takes no for no, and Ctrl-C at the question, too [REG-64]', async () => {
    const cwd = await newAgent();
    const { url } = await silentServer();
    const ask = async (answer: string) => {
      const terminal = inTerminal(cwd, { AGENT_RENTAL_URL: url }, [
        process.execPath,
        BIN,
        'close',
        'an-agent-aaaaaa',
      ]);
      await terminal.shown('[y/N]');
      terminal.type(answer);
      return terminal.end();
    };
    expect(await ask('\n')).toMatchObject({
      code: 0,
      shown: expect.stringContaining('Nothing was done.') as string,
    });
    expect(await ask('no\n')).toMatchObject({ code: 0 });
    expect(await ask(CTRL_C)).toMatchObject({ code: 130 });
    // In a pipe there is no person to ask.
    const piped = await execute(process.execPath, [BIN, 'close', 'an-agent-aaaaaa'], { cwd }).catch(
      (error: { code: number; stderr: string }) => error,
    );
    expect(piped).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes is missing') as string });
  });

  it('asks for a forgotten key of a model, and does not show it [REG-61]', async () => {
    const cwd = await newAgent();
    const file = join(cwd, 'agent.json');
    const agent = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...agent, model: { provider: 'openai', model: 'a-model' } }));
    const { url } = await silentServer({
      network: 'localnet',
      program_id: '11111111111111111111111111111111',
      genesis_hash: '11111111111111111111111111111111',
      rpc_url: null,
      protocol_account: '11111111111111111111111111111111',
      payment_recipient: '11111111111111111111111111111111',
      fee_bps: 250,
      min_query_price_lamports: 200_000,
      unserved_tools: [],
    });
    // The vendor is not asked about an agent that is published unverified.
    const program = [process.execPath, BIN, 'publish', '--unverified'];
    const terminal = inTerminal(cwd, { AGENT_RENTAL_URL: url }, program);
    await terminal.shown('Key of openai');
    terminal.type('a-typed-secret\n');
    await terminal.shown("The model's key is the one in the terminal.");
    terminal.type(CTRL_C);
    const { code, shown } = await terminal.end();
    expect(code).toBe(130);
    expect(shown).not.toContain('a-typed-secret');
  });

  it('serves the model until Ctrl-C, and its port is free again [REG-64]', async () => {
    const cwd = await newAgent();
    const terminal = inTerminal(cwd, {}, [process.execPath, BIN, 'model', '--port', '0']);
    await terminal.shown('Ctrl-C ends it.');
    terminal.type(CTRL_C);
    expect(await terminal.end()).toMatchObject({ code: 0 });
  });
});

const SHELLS = {
  bash: { program: ['bash', '--norc', '--noprofile'], stub: 'agent-rental() { echo "RAN:$*:"; }' },
  zsh: { program: ['zsh'], stub: 'agent-rental() { echo "RAN:$*:"; }' },
  fish: { program: ['fish', '--no-config'], stub: 'function agent-rental; echo "RAN:$argv:"; end' },
} as const;

describe.skipIf(!hasTerminal)('completion in the shell itself', () => {
  it.for(Object.keys(SHELLS) as (keyof typeof SHELLS)[])(
    'of %s completes commands, options, choices and files [REG-64]',
    async (shell, { skip }) => {
      const { program, stub } = SHELLS[shell];
      if (spawnSync(program[0], ['--version']).status !== 0) skip(`There is no ${shell}.`);
      const cwd = await newAgent();
      const { stdout: script } = await execute(process.execPath, [BIN, 'completion', shell]);
      await writeFile(join(cwd, `completion.${shell}`), `${stub}\n${script}\n`);
      // Without one, zsh asks its user first.
      await writeFile(join(cwd, '.zshrc'), '');
      const terminal = inTerminal(cwd, { PATH: process.env['PATH'] ?? '' }, program);
      // Because of the quotes, the typed text differs from the shell's answer.
      terminal.type(`source ./completion.${shell}; echo READ''Y\n`);
      await terminal.shown('READY');
      for (const [started, rest] of [
        ['agent-rental pub', 'lish'],
        ['agent-rental wallet sw', 'eep'],
        ['agent-rental wallet sweep --t', 'o'],
        ['agent-rental run --input-f', 'ile'],
        ['agent-rental run --input-file prom', 'pt.md'],
        ['agent-rental completion z', 'sh'],
      ] as const) {
        const from = terminal.length();
        terminal.type(started);
        await terminal.shown(started.slice(-2), from);
        const typed = terminal.length();
        terminal.type('\t');
        await terminal.shown(rest, typed);
        terminal.type('\n');
        await terminal.shown(`RAN:${`${started}${rest}`.slice('agent-rental '.length)}`, from);
      }
      terminal.type('exit\n');
      expect(await terminal.end()).toMatchObject({ code: 0 });
    },
  );
});
