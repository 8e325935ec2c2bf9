import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { FORM, IS_QUICK, sampleOf, SEED } from '../support/form.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { CLI, freePort, openWorkshop, type Ended, type Workshop } from '../support/workshop.js';

const FORWARDED = ['authorization', 'content-type', 'accept', 'idempotency-key', 'prefer'];

/** A proxy before the API and the RPC endpoint. It forwards all requests but one, which it takes and never answers. */
interface Proxy {
  readonly url: string;
  /** Holds the request that follows `after` other requests from now on. */
  hold(after: number): void;
  /** Forwards all requests. */
  release(): void;
  close(): void;
}

/** @param held is called when the held request arrives */
async function startProxy(held: () => void): Promise<Proxy> {
  let left = Number.POSITIVE_INFINITY;
  const server = createServer((request, response) => {
    left -= 1;
    if (left < 0) {
      held();
      return;
    }
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const headers = FORWARDED.flatMap((name) => {
        const value = request.headers[name];
        return typeof value === 'string' ? [[name, value] as [string, string]] : [];
      });
      const { rpc_url, base_url } = marketplace.dev;
      const answer = await fetch(new URL(request.url ?? '/', request.url === '/' ? rpc_url : base_url), {
        method: request.method ?? 'GET',
        headers,
        ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
      });
      const body = Buffer.from(await answer.arrayBuffer());
      const shown = [...answer.headers].filter(
        ([name]) => !['content-length', 'content-encoding', 'transfer-encoding', 'connection'].includes(name),
      );
      response.writeHead(answer.status, Object.fromEntries(shown)).end(body);
    })().catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: (after) => {
      left = after;
    },
    release: () => {
      left = Number.POSITIVE_INFINITY;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

let stateDir: string;
let marketplace: OwnMarketplace;
let modelPort: number;
let proxy: Proxy;
let isHeld: () => void = () => undefined;

beforeAll(async () => {
  if (IS_QUICK) return;
  proxy = await startProxy(() => isHeld());
  modelPort = await freePort();
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, {
    EXAMPLES: 'off',
    PUBLIC_URL: proxy.url,
    ALLOW_LOOPBACK: `http://127.0.0.1:${modelPort}`,
  });
}, 120_000);
afterAll(async () => {
  if (IS_QUICK) return;
  proxy?.close();
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

/** Runs a command until it waits for the answer to its n-th request, and interrupts it there. Undefined: it has no such request. */
async function interrupt(
  cli: Workshop['cliUntil'],
  cwd: string,
  args: readonly string[],
  after: number,
): Promise<Ended | undefined> {
  const interruption = new AbortController();
  isHeld = () => interruption.abort();
  proxy.hold(after);
  const ended = await cli(interruption.signal, cwd, ...args);
  proxy.release();
  return interruption.signal.aborted ? ended : undefined;
}

/** More requests than any command makes. */
const MOST_REQUESTS = 40;

/** CI interrupts at every fourth request, from a random one of the first four on. */
const SAMPLE = FORM === 'full' ? { first: 0, step: 1 } : { first: SEED % 4, step: 4 };

/**
 * Interrupts a command, as Ctrl-C does, while it waits for the answer to a request. Then it runs the command again up to a later request,
 * until the command ends by itself.
 *
 * @returns the number of the first request that it did not make
 */
async function interruptRepeatedly(
  cli: Workshop['cliUntil'],
  cwd: string,
  args: readonly string[],
  { first, step } = SAMPLE,
) {
  for (let at = first; at < MOST_REQUESTS; at += step) {
    const ended = await interrupt(cli, cwd, args, at);
    if (!ended) return at;
    expect(ended, `${args[0]} at request ${at}`).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/agent-rental: Ended by Ctrl-C\.[^\n]*\n$/) as string,
    });
  }
  throw new Error(`${args[0]} makes more than ${MOST_REQUESTS} requests.`);
}

it.skipIf(IS_QUICK)(
  'a command that is interrupted at a sample of its requests goes on from there, and does nothing twice [REG-64]',
  async () => {
    const { folder, cli, cliUntil } = await openWorkshop({ base_url: proxy.url, rpc_url: proxy.url });
    const cwd = join(folder, 'cut-agent');
    await cli(folder, 'init', 'cut-agent');
    const file = join(cwd, 'agent.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace(':8789', `:${modelPort}`));
    const model = spawn(process.execPath, [CLI, 'model', '--port', String(modelPort)], {
      cwd,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void model.kill('SIGKILL'));
    await once(model.stdout, 'data');
    const ok = async (...args: string[]) => {
      const ended = await cli(cwd, ...args);
      expect(ended, args.join(' ')).toMatchObject({ code: 0 });
      return ended;
    };
    await ok('wallet', 'create', '--fund', '1', '--airdrop');
    await ok('wallet', 'create', 'renter.json', '--fund', '1', '--airdrop');

    // The login, the registration, its job, the publication and its confirmation.
    expect(await interruptRepeatedly(cliUntil, cwd, ['publish'])).toBeGreaterThan(5);
    const { agents } = JSON.parse((await ok('agents', '--json')).stdout) as {
      agents: { listing_id: string; status: string }[];
    };
    expect(agents.map(({ status }) => status)).toEqual(['active']);
    const id = agents[0]?.listing_id ?? '';
    const asRenter = ['--wallet', 'renter.json'];
    const rent = ['rent', id, '--deposit', '0.01', '--yes', ...asRenter];
    expect(await interruptRepeatedly(cliUntil, cwd, rent)).toBeGreaterThan(4);
    // It pays again when asked to, and says so before.
    expect((await ok(...rent)).stderr).toContain('is rented already, and its balance is 0.01 SOL');
    const run = ['run', id, 'Do it.', '--input', '{"text":"a"}', ...asRenter];
    expect(await interruptRepeatedly(cliUntil, cwd, run)).toBeGreaterThan(1);

    await writeFile(join(cwd, 'prompt.md'), 'Sing the text.');
    expect(await interruptRepeatedly(cliUntil, cwd, ['update'])).toBeGreaterThan(4);
    expect((await ok('update')).stdout).toContain('Nothing has changed');
    for (const read of sampleOf([['agents'], ['stats', id], ['logs', id], ['earnings']], 1)) {
      expect(await interruptRepeatedly(cliUntil, cwd, read, { first: 0, step: 1 }), read[0]).toBeGreaterThan(
        0,
      );
    }
    for (const [command, then] of [
      ['pause', 'paused already'],
      ['resume', 'active already'],
      ['withdraw', 'no earnings'],
      ['close', 'closed'],
    ] as const) {
      const args = command === 'close' ? [command, '--yes'] : [command];
      expect(await interruptRepeatedly(cliUntil, cwd, args), command).toBeGreaterThan(2);
      expect((await cli(cwd, ...args)).stderr, command).toContain(then);
    }
    const sweep = ['wallet', 'sweep', 'renter.json', '--to', '11111111111111111111111111111112'];
    expect(await interruptRepeatedly(cliUntil, cwd, sweep)).toBeGreaterThan(2);
    // Everything was sent by then, and a second sweep finds nothing.
    expect((await cli(cwd, ...sweep)).stderr).toContain('holds 0 SOL');
  },
  240_000,
);
