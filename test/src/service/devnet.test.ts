import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEmptyDatabase, type TemporaryDatabase } from '@agent-rental/server/testing';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSurfnet, surfnetRunsHere } from '../program-clients/chains/surfnet.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** In the place of Solana's tools: deploys the requested program on the chain of this test. */
const SOLANA_STAND_IN = `#!/usr/bin/env node
const { parseArgs } = require('node:util');
const { values, positionals: [program, deploy, so] } = parseArgs({
  allowPositionals: true,
  options: Object.fromEntries(
    ['url', 'keypair', 'upgrade-authority', 'program-id'].map((name) => [name, { type: 'string' }]),
  ),
});
if (program !== 'program' || deploy !== 'deploy') throw new Error('It only deploys.');
fetch(process.env.DEPLOY_URL, { method: 'POST', body: JSON.stringify({ ...values, so }) })
  .then(async (answer) => {
    if (!answer.ok) throw new Error(await answer.text());
  });
`;

describe.runIf(surfnetRunsHere)('docs/devnet.md', () => {
  const blocks = [
    ...readFileSync(join(ROOT, 'docs/devnet.md'), 'utf8').matchAll(/```sh *(\w*)\n([^]*?)```/g),
  ].map(([, role = '', code = '']) => ({ role, code }));
  let home: string;
  let database: TemporaryDatabase;
  let server: ChildProcess | undefined;
  const ends: (() => unknown)[] = [];
  let env: Record<string, string>;
  /** Values of devnet or of the reader, and their replacements in this test. */
  let replacements: [written: string, here: string][];

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'devnet-'));
    database = await openEmptyDatabase();
    const chain = startSurfnet();
    ends.push(() => chain.close());
    const deployments = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const asked = JSON.parse(body) as Record<'url' | 'program-id' | 'upgrade-authority' | 'so', string>;
        const addressOf = (file: string) => {
          const bytes = JSON.parse(readFileSync(file, 'utf8')) as number[];
          return Keypair.fromSecretKey(Uint8Array.from(bytes)).publicKey.toBase58();
        };
        chain
          .deploy({
            programId: addressOf(asked['program-id']),
            soPath: join(ROOT, asked.so),
            upgradeAuthority: addressOf(asked['upgrade-authority']),
          })
          .then(
            () => response.end(),
            (error: unknown) => response.writeHead(500).end(String(error)),
          );
      });
    });
    await new Promise<void>((resolve) => deployments.listen(0, '127.0.0.1', resolve));
    ends.push(() => deployments.close());
    const bin = join(home, 'bin');
    await mkdir(bin);
    await writeFile(join(bin, 'solana'), SOLANA_STAND_IN);
    await chmod(join(bin, 'solana'), 0o755);
    const port = await freePort();
    env = {
      HOME: home,
      PATH: `${bin}:${process.env['PATH']}`,
      PORT: String(port),
      DEPLOY_URL: `http://127.0.0.1:${(deployments.address() as AddressInfo).port}`,
      SANDBOX_POOL_SIZE: '1',
    };
    replacements = [
      ['https://api.devnet.solana.com', chain.rpcUrl],
      ['postgres://market@127.0.0.1:5432/market', database.url],
      ['https://market.example', `http://127.0.0.1:${port}`],
      // No vendor is called from here: the agent is not reached.
      ['sk-...', 'sk-none'],
      ['agent-rental publish ', 'agent-rental publish --unverified '],
      // npm's script looks for changes of the code before each command: it does so twice here.
      ...['initialize', 'reviews', 'approve'].map((command): [string, string] => [
        `npm run operator -- ${command}`,
        `node server/dist/operator/main.js ${command}`,
      ]),
    ];
  }, 60_000);
  afterAll(async () => {
    if (server?.pid !== undefined && server.exitCode === null) {
      // The output ends with the last process of the group, which still uses the database while the shell has ended.
      const ended = new Promise((resolve) => server?.once('close', resolve));
      process.kill(-server.pid, 'SIGTERM');
      await ended;
    }
    for (const end of ends.toReversed()) await end();
    await database?.close();
    await rm(home, { recursive: true, force: true });
  }, 60_000);

  const here = (code: string) =>
    replacements.reduce((text, [written, replacement]) => text.replaceAll(written, replacement), code);

  /** Starts a script as a reader's shell runs it, in the folder of the repository. */
  function begin(script: string): { child: ChildProcess; output: () => string } {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd: ROOT, env, detached: true });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    return { child, output: () => output };
  }

  async function run(...codes: string[]): Promise<string> {
    const { child, output } = begin(codes.map(here).join('\n'));
    const code = await new Promise((resolve) => child.once('exit', resolve));
    if (code !== 0) throw new Error(`It ended with ${String(code)}:\n${output()}`);
    return output();
  }

  test('leads from nothing to a first rental, block by block [OPS-78]', async () => {
    const start = blocks.findIndex(({ role }) => role === 'server');
    expect(start).toBeGreaterThan(0);
    const walked = (from: number, to: number) =>
      blocks.slice(from, to).flatMap(({ role, code }) => (role === '' ? [code] : []));
    for (const [written] of replacements)
      expect(
        blocks.some(({ code }) => code.includes(written)),
        written,
      ).toBe(true);

    const before = await run(...walked(0, start));
    expect(before).toContain('as committed');
    expect(before).toContain('Nothing was sent');
    expect(before).toContain('ProtocolInitialized');

    const started = begin(here(blocks[start]?.code ?? ''));
    server = started.child;
    await expect
      .poll(() => started.output() + (server?.exitCode ?? ''), { timeout: 60_000 })
      .toContain('The marketplace is up');

    const after = await run('. ~/market/env', ...walked(start, blocks.length));
    expect(after).toContain('0 problems');
    expect(after).toMatch(/Rented [\w-]+\./);
    expect((await readFile(join(home, 'market/env'), 'utf8')).match(/PROGRAM_ID=/g)).toHaveLength(2);
  }, 300_000);
});

async function freePort(): Promise<number> {
  const probe = createTcpServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
