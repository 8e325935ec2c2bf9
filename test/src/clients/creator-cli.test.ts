import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PNG } from 'pngjs';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { login } from '../support/http.js';
import { takePort } from '../support/loopback-ports.js';
import { attach, readKeypair, type Marketplace } from '../support/marketplace.js';
import { CLI, followDocument, openWorkshop } from '../support/workshop.js';

/** Limit of the time until a creator, with the README alone, has a paid run. */
const TWO_MINUTES_MS = 120_000;
/** Forty commands take about a minute, and much longer beside other tests. */
const FOUR_MINUTES_MS = 240_000;

let marketplace: Marketplace;
let agentPort: number;
let modelPort: number;
beforeAll(async () => {
  [agentPort, modelPort] = [await takePort(), await takePort()];
  marketplace = await attach(inject('stateDir'));
});

const follow = (cwd: string, document: string) =>
  followDocument(cwd, document, { dev: marketplace.dev, agentPort, modelPort });
const loginWith = async (file: string) => login(marketplace, await readKeypair(file));

/** Runs `agent-rental logs --follow`: gives the first run that it tells after the earlier ones, and its end at Ctrl-C. */
async function followLogs(cwd: string): Promise<{ told: Promise<object>; end: () => Promise<unknown> }> {
  const env = { PATH: process.env['PATH'], AGENT_RENTAL_URL: marketplace.dev.base_url };
  const child = spawn(process.execPath, [CLI, 'logs', '--follow', '--limit', '1', '--json'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  return {
    told: lines.next().then(({ value }) => JSON.parse(String(value)) as object),
    end: async () => {
      child.kill('SIGINT');
      return (await exited)[0];
    },
  };
}

/** Starts a program that a creator keeps running, and waits until it says that it listens. */
async function keepRunning(cwd: string, command: string, args: string[]): Promise<void> {
  const child = spawn(command, args, {
    cwd,
    // A new process group: npm starts a shell, which starts the agent.
    detached: true,
    env: { PATH: process.env['PATH'], PORT: String(agentPort), NO_UPDATE_NOTIFIER: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(async () => {
    if (child.exitCode === null) {
      process.kill(-(child.pid ?? 0), 'SIGTERM');
      await once(child, 'exit');
    }
  });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('listens at')) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', () => reject(new Error(`It ended: ${output}`)));
  });
}

describe('a creator with the command line alone', () => {
  it(
    'comes to a paid run by the commands of docs/creators.md [REG-61]',
    async () => {
      const { folder } = await openWorkshop(marketplace.dev);
      const guide = fileURLToPath(new URL('../../../docs/creators.md', import.meta.url));
      const said = await follow(folder, guide);
      expect(said).toContain('Practice model');
      expect(said).toContain('charged 0.001 SOL');
    },
    TWO_MINUTES_MS,
  );

  it(
    'changes, rolls back, pauses, resumes and closes its published agent, and takes the earnings [REG-61, REG-64]',
    async () => {
      const { folder, cli } = await openWorkshop(marketplace.dev);
      const agent = join(folder, 'kept-agent');
      const ok = async (...args: string[]) => {
        const ended = await cli(agent, ...args);
        expect(ended, args.join(' ')).toMatchObject({ code: 0 });
        return ended.stdout;
      };
      await cli(folder, 'init', 'kept-agent');
      const file = join(agent, 'agent.json');
      await writeFile(file, (await readFile(file, 'utf8')).replace(':8789', `:${modelPort}`));
      await keepRunning(agent, process.execPath, [CLI, 'model', '--port', String(modelPort)]);
      await ok('wallet', 'create', '--fund', '1', '--airdrop');
      await ok('wallet', 'create', 'renter.json', '--fund', '1', '--airdrop');
      await ok('publish');
      expect(await cli(agent, 'publish')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('agent-rental update') as string,
      });
      const listings = Object.values(
        JSON.parse(await readFile(join(agent, 'listings.json'), 'utf8')) as object,
      ) as { listing_id: string }[];
      const id = listings[0]?.listing_id ?? '';
      const run = () =>
        cli(agent, 'run', id, 'Do it.', '--input', '{"text":"a"}', '--wallet', 'renter.json', '--json');
      await ok('rent', id, '--deposit', '0.01', '--yes', '--wallet', 'renter.json');

      await writeFile(join(agent, 'prompt.md'), 'Sing the text.');
      const edit = async (from: string, to: string) =>
        writeFile(file, (await readFile(file, 'utf8')).replace(from, to));
      await edit('1000000', '500000');
      expect(await ok('update')).toContain('manifest, price');
      expect(await ok('update')).toContain('Nothing has changed');
      await edit('"Kept agent"', '"Songs"');
      await edit('You are paid after we have received it.', 'La la.');
      await writeFile(join(agent, 'README.md'), '# Songs\n');
      await writeFile(join(agent, 'icon.png'), PNG.sync.write(new PNG({ width: 64, height: 64 })));
      await edit(
        '"system_prompt_file"',
        '"readme_file": "README.md", "icon_file": "icon.png", "system_prompt_file"',
      );
      expect(await ok('update')).toContain(`Updated ${id}: terms.`);
      expect(await ok('update')).toContain('Nothing has changed');
      const page = await fetch(`${marketplace.dev.base_url}/v1/listings/${id}`, {
        headers: { authorization: `Bearer ${await loginWith(join(agent, 'renter.json'))}` },
      });
      expect(await page.json()).toMatchObject({
        title: 'Songs',
        sample_output: ['La la.'],
        readme: '# Songs',
        icon_path: expect.stringMatching(/^\/icons\/[0-9a-f]{64}$/) as string,
        version: 2,
      });
      const changed = JSON.parse((await run()).stdout) as { output: string; cost_lamports: number };
      expect(changed).toMatchObject({
        cost_lamports: 500_000,
        output: expect.stringContaining('Sing the text.') as string,
      });

      expect(await ok('rollback')).toContain(`${id} runs the content of version 1 as version 3.`);
      expect(JSON.parse((await run()).stdout)).toMatchObject({
        output: expect.not.stringContaining('Sing the text.') as string,
      });
      expect(await cli(agent, 'rollback', '--to', '9')).toMatchObject({ code: 1 });
      // The folder differs from the version that runs.
      expect(await ok('update')).toContain('manifest');

      expect(await ok('logs', '--limit', '1')).toMatch(/^[-\d]+ [:\d]+ completed +\d+\.\d s v3 [-\w]{36}\n$/);
      const { told, end } = await followLogs(agent);
      // The practice model answers with an empty array, which breaks the agent's new schema.
      await edit(
        '"output_schema": { "type": "string" }',
        '"output_schema": { "type": "array", "minItems": 1 }',
      );
      await ok('update');
      expect(await run()).toMatchObject({ code: 3 });
      expect(await told).toMatchObject({
        status: 'failed',
        version: 5,
        failure: { class: expect.any(String) as string },
      });
      expect(await end()).toBe(0);
      expect(await ok('stats', '--window', '7d')).toMatch(
        /^ +\d+ {2}completed\n +1 {2}failed$[^]*^Half within \d/m,
      );
      expect(await ok('logs')).toMatch(/ failed +\d+\.\d s v5 [-\w]{36}\n {2}\w+: /);
      await edit(
        '"output_schema": { "type": "array", "minItems": 1 }',
        '"output_schema": { "type": "string" }',
      );
      await ok('update');

      const reviewer = (await readKeypair(join(agent, 'renter.json'))).publicKey.toBase58();
      await fetch(`${marketplace.dev.base_url}/v1/listings/${id}/reviews`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await loginWith(join(agent, 'renter.json'))}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ rating: 2, comment: 'Slow.\nAnd plain.' }),
      });
      await ok('answer', id, reviewer, 'Faster now.');
      expect(await ok('reviews')).toMatch(
        /^1 reviews, 5 stars: 0, .*2 stars: 1, .*\n2 of 5, [-\d]+, \w+\n {2}Slow\.\n {2}And plain\.\n {2}Answer, [-\d]+:\n {4}Faster now\.\n$/,
      );
      await ok('answer', id, reviewer, '--remove');
      expect(await ok('reviews')).not.toContain('Answer');
      expect(await cli(agent, 'answer', id, reviewer)).toMatchObject({ code: 2 });
      const others = await cli(agent, 'answer', id, reviewer, 'Mine.', '--wallet', 'renter.json');
      expect(others).toMatchObject({ code: 1, stderr: expect.stringContaining('You have no such listing') });

      await ok('pause');
      expect(await run()).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('listing_paused') as string,
      });
      await ok('resume');
      expect(await run()).toMatchObject({ code: 0 });
      await ok('withdraw');
      expect(await cli(agent, 'close')).toMatchObject({ code: 2 });
      await ok('close', '--yes');
      expect(await run()).toMatchObject({ code: 1 });
    },
    FOUR_MINUTES_MS,
  );

  it('is told the next step without SOL, with the wrong wallet, and when the marketplace is down [REG-61]', async () => {
    const { folder, cli } = await openWorkshop(marketplace.dev);
    const agent = join(folder, 'poor-agent');
    await cli(folder, 'init', 'poor-agent');
    const file = join(agent, 'agent.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace(':8789', `:${modelPort}`));
    await keepRunning(agent, process.execPath, [CLI, 'model', '--port', String(modelPort)]);
    const refusal = async (...args: string[]) => {
      const ended = await cli(agent, ...args);
      expect(ended.code, ended.stderr).toBe(1);
      return ended.stderr.trimEnd().split('\n').at(-1);
    };
    expect(await refusal('publish')).toContain('agent-rental wallet create');
    await cli(agent, 'wallet', 'create');
    expect(await refusal('publish')).toMatch(/too little SOL.*"agent-rental wallet fund FILE"/);
    await cli(agent, 'wallet', 'fund', '--sol', '1', '--airdrop');
    // A registered agent is not registered again.
    expect(await cli(agent, 'publish')).toMatchObject({ code: 0 });
    await cli(agent, 'wallet', 'create', 'other.json', '--fund', '1', '--airdrop');
    await writeFile(join(agent, 'prompt.md'), 'Sing the text.');
    for (const command of ['update', 'rollback', 'pause']) {
      const told = await refusal(
        command,
        ...(command === 'rollback' ? ['--to', '2'] : []),
        '--wallet',
        'other.json',
      );
      expect(told, command).toContain('--wallet');
    }
    const away = await refusal('update', 'some-listing', '--url', 'http://127.0.0.1:9');
    expect(away).toContain('could not be reached');
    expect(away).toContain('Is it running?');
    const noChain = await refusal('wallet', 'balance', '--rpc', 'http://127.0.0.1:9');
    expect(noChain).toMatch(/The RPC endpoint could not be reached.* --rpc and AGENT_RENTAL_RPC_URL set/);
  });

  it('publishes an unreachable agent with --unverified alone, sees the reason, and renters are told until a run succeeds [REG-120, REG-123, REG-61, REG-127]', async () => {
    const { folder, cli } = await openWorkshop(marketplace.dev);
    const agent = join(folder, 'away-agent');
    await cli(folder, 'init', 'away-agent');
    const file = join(agent, 'agent.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace(':8789', `:${modelPort}`));
    await writeFile(
      file,
      (await readFile(file, 'utf8')).replace(/"description": "[^"]*"/, '"description": "Is away."'),
    );
    await cli(agent, 'wallet', 'create', '--fund', '1', '--airdrop');
    await cli(agent, 'wallet', 'create', 'renter.json', '--fund', '1', '--airdrop');
    expect((await cli(agent, 'check')).stdout).toContain('advice: description is short');
    const refused = await cli(agent, 'publish');
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /model could not be reached.*"agent-rental publish --unverified"/s,
      ) as string,
    });
    expect(refused.stderr).toContain('warning: description is short');
    const published = await cli(agent, 'publish', '--unverified', '--json');
    expect(published).toMatchObject({ code: 0 });
    const { listing_id: id } = JSON.parse(published.stdout) as { listing_id: string };
    const listed = await cli(agent, 'agents');
    expect(listed.stdout).toMatch(
      new RegExp(`${id} \\(active, v1\\)\n {2}not reached since .*\n {2}The model could not`),
    );
    expect(listed.stdout).toContain('unverified since');

    const asRenter = ['--wallet', 'renter.json'];
    const rented = await cli(agent, 'rent', id, '--deposit', '0.003', '--yes', ...asRenter);
    expect(rented).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('could not be reached') as string,
    });
    const shown = async () => {
      const token = await loginWith(join(agent, 'renter.json'));
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${marketplace.dev.base_url}/v1/listings/${id}`, { headers })).json();
    };
    expect(await shown()).toMatchObject({ unverified_since: expect.any(String) as string });
    await keepRunning(agent, process.execPath, [CLI, 'model', '--port', String(modelPort)]);
    const run = await cli(agent, 'run', id, 'Do it.', '--input', '{"text":"a"}', ...asRenter);
    expect(run).toMatchObject({ code: 0 });
    expect(await shown()).not.toHaveProperty('unverified_since');
    const { agents } = JSON.parse((await cli(agent, 'agents', '--json')).stdout) as { agents: object[] };
    expect(agents).toMatchObject([{ listing_id: id, status: 'active', unreachable: null }]);
  });

  it('is told every fault of an agent, and its place [REG-61]', async () => {
    const { folder, cli } = await openWorkshop(marketplace.dev);
    expect(await cli(folder, 'publish')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('agent-rental init') as string,
    });
    await writeFile(
      join(folder, 'agent.json'),
      JSON.stringify({ name: 'Bad Name', description: 'x', entrypoint_url: 'http://10.0.0.1/', price: 1 }),
    );
    const refused = await cli(folder, 'check', '--json');
    expect(refused.code).toBe(1);
    const { error } = JSON.parse(refused.stderr) as { error: { message: string } };
    for (const part of ['name', 'category', 'input_schema', 'output_schema', 'price']) {
      expect(error.message).toContain(part);
    }
  });
});
