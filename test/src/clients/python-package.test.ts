import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publish } from '@agent-rental/sdk/solana';
import { npmTool } from '@agent-rental/stand-in/npm-tool';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jobEnd, PRICE } from '../support/agents/agents.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { FORM } from '../support/form.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { until } from '../support/timing/until.js';
import { pythonEnvironment } from '../support/toolchains/python-environment.js';
import { freePort, openWorkshop } from '../support/workshop.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);
const PACKAGE = join(ROOT, 'packages/python');
const TIMEOUT_MS = 120_000;
const MOST_BYTES = 1_000_000;

const python = await pythonEnvironment(join(PACKAGE, 'requirements.txt'));
if ('missing' in python) process.stderr.write(`The Python package was NOT RUN: ${python.missing}\n`);

/** A copy of the package with its generated part, and the folder into which its wheel is installed. */
let folder: string;
let site: string;

/** Runs a module of Python, with the installed package. */
const module = (name: string, ...args: string[]) => runPython({}, '-m', name, ...args);

async function runPython(env: Record<string, string>, ...args: string[]) {
  if ('missing' in python) throw new Error(python.missing);
  const options = { cwd: folder, timeout: TIMEOUT_MS, env: pythonVariables(python.python, env) };
  const ended = await run(python.python, args, options).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  return { ended, said: ended.stdout + ended.stderr, isError: ended instanceof Error };
}

function pythonVariables(interpreter: string, env: Record<string, string>): Record<string, string> {
  return {
    PATH: dirname(interpreter) + delimiter + process.env['PATH'],
    PYTHONPATH: site,
    PYTHONDONTWRITEBYTECODE: '1',
    ...env,
  };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-rental-python-package-'));
  site = join(folder, 'site');
  if ('missing' in python) return;
  await cp(PACKAGE, folder, { recursive: true });
  await mkdir(join(folder, 'documents'));
  for (const [name, path] of [
    ['README.md', 'README.md'],
    ['python.md', 'docs/python.md'],
  ] as const)
    await cp(join(ROOT, path), join(folder, 'documents', name));
  const into = join(folder, 'src/agent_rental/generated');
  await run(process.execPath, [join(PACKAGE, 'generate.mjs'), '--python', python.python, '--into', into]);
  // The wheel is built from the source distribution, which has the generated part.
  const built = await module('build', '--no-isolation', '--outdir', 'dist', '.');
  if (built.isError) throw new Error(built.said);
  const wheel = (await readdir(join(folder, 'dist'))).find((name) => name.endsWith('.whl')) ?? '';
  const options = ['--quiet', '--no-deps', '--no-index', '--no-compile', '--disable-pip-version-check'];
  const installed = await module('pip', 'install', ...options, '--target', site, join('dist', wheel));
  if (installed.isError) throw new Error(installed.said);
}, TIMEOUT_MS);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the wheel', () => {
  test('has less than 1 MB of code, and its dependencies are of the versions that it names', async () => {
    const own = join(site, 'agent_rental');
    const files = await readdir(own, { recursive: true, withFileTypes: true });
    const sizes = await Promise.all(
      files
        .filter((file) => file.isFile())
        .map(async (file) => (await stat(join(file.parentPath, file.name))).size),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST_BYTES);
    expect((await module('pip', 'check')).said).toBe('No broken requirements found.\n');
  });

  test('is clean for mypy and pyright in strict mode, as a program of ten lines is, and for ruff', async () => {
    const program = 'tests/typed_use.py';
    // On this path the package's own files are checked, too.
    const own = await runPython({ MYPYPATH: site }, '-m', 'mypy', '--no-incremental', 'tests');
    expect(own.said).toMatch(/^Success: no issues/);
    const pyright = await npmTool('pyright', '1.1.414', 'index.js');
    if ('missing' in python) throw new Error(python.missing);
    const settings = ['--pythonpath', python.python, '--level', 'error'];
    const checked = await run(process.execPath, [pyright, ...settings, program], {
      cwd: folder,
      env: pythonVariables(python.python, {}),
    }).catch((error: { stdout: string }) => error);
    expect(checked.stdout).toMatch(/^0 errors/);
    expect((await module('ruff', 'check', 'src', 'tests')).said).toBe('All checks passed!\n');
    expect((await module('ruff', 'format', '--check', 'src', 'tests')).isError).toBe(false);
  });
});

describe('against a marketplace', () => {
  let stateDir: string;
  let marketplace: OwnMarketplace;
  let agents: ChildProcess | undefined;
  let templatePort: number;
  let agentsUrl: string;
  const own: Record<string, string> = {};

  beforeAll(async () => {
    if ('missing' in python) return;
    const port = await freePort();
    templatePort = await freePort();
    const secrets = join(folder, 'secrets');
    const url = `http://127.0.0.1:${port}`;
    agentsUrl = url;
    stateDir = await newStateDir();
    await mkdir(secrets);
    agents = spawn(python.python, ['tests/own_agents.py'], {
      cwd: folder,
      env: pythonVariables(python.python, { PORT: String(port), SECRETS: secrets }),
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    marketplace = await startMarketplace(stateDir, {
      ALLOW_LOOPBACK: `${url},http://127.0.0.1:${templatePort}`,
    });
    await until(() => fetch(`${url}/state`).catch(() => undefined));
    const creator = await newParticipant(marketplace);
    for (const name of ['streaming', 'slow', 'failing']) {
      own[name] = await sell(creator, name, `${url}/${name}`, join(secrets, name));
    }
  }, TIMEOUT_MS);

  afterAll(async () => {
    if (agents !== undefined && agents.exitCode === null) {
      agents.kill('SIGKILL');
      await once(agents, 'exit');
    }
    await marketplace?.stop();
    if (stateDir !== undefined) await removeStateDir(stateDir);
  });

  async function marketOfTests() {
    const { base_url, rpc_url, program_id } = marketplace.dev;
    const { task, input } = await marketplace.request('per_query');
    const agent_id = marketplace.listing('per_query').id;
    return { base_url, rpc_url, program_id, agent_id, task, input, own, own_url: agentsUrl };
  }

  test(
    'its own tests pass, with the vectors of the sdk [TXN-16, MON-32]',
    async () => {
      const market = await marketOfTests();
      const tested = await runPython(
        { AGENT_RENTAL_TEST_MARKET: JSON.stringify(market) },
        '-m',
        'pytest',
        '--tb=short',
        'tests',
      );
      expect(tested.said).toMatch(/\d{2} passed in /);
      expect(tested.said).not.toMatch(/failed|skipped|error/i);
    },
    TIMEOUT_MS,
  );

  // Their packages are many, and a run takes 20 s.
  test.runIf(FORM === 'full').each([
    ['langchain', 'frameworks'],
    ['openai_agents', 'frameworks'],
    ['pydantic_ai', 'frameworks'],
    ['anthropic', 'frameworks'],
    ['google_adk', 'frameworks'],
    ['crewai', 'crewai'],
  ])(
    'a model in %s has one charge for each run, also for a failed one and one of 20 s, and none without a balance',
    async (framework, requirements) => {
      const installed = await pythonEnvironment(join(PACKAGE, `requirements-${requirements}.txt`));
      if ('missing' in installed) throw new Error(installed.missing);
      const env = pythonVariables(installed.python, {
        AGENT_RENTAL_TEST_MARKET: JSON.stringify(await marketOfTests()),
        OTEL_SDK_DISABLED: 'true',
        HOME: folder,
      });
      const options = { cwd: folder, timeout: TIMEOUT_MS, env };
      const { stdout } = await run(installed.python, ['tests/frameworks.py', framework], options);
      expect(stdout.match(/: charges [01]\.0, 'DONE/g)).toHaveLength(5);
    },
    6 * TIMEOUT_MS,
  );

  test(
    'a creator publishes the template, and a renter has a paid run of it [REG-61]',
    async () => {
      if ('missing' in python) throw new Error(python.missing);
      const { folder: place, cli } = await openWorkshop(marketplace.dev);
      expect(await cli(place, 'init', 'counter', '--template', 'python')).toMatchObject({ code: 0 });
      const agent = join(place, 'counter');
      const manifest = await readFile(join(agent, 'agent.json'), 'utf8');
      await writeFile(join(agent, 'agent.json'), manifest.replace(':8788', `:${templatePort}`));
      // In place of the environment that `npm install` makes of the package index.
      await mkdir(join(agent, '.venv/bin'), { recursive: true });
      const variables = pythonVariables(python.python, { PORT: String(templatePort) });
      const program = `#!/bin/sh\nexec '${python.python}' "$@"\n`;
      await writeFile(join(agent, '.venv/bin/python'), program, { mode: 0o755 });
      const served = spawn('npm', ['start', '--silent'], {
        cwd: agent,
        env: variables,
        detached: true,
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      try {
        const said = async (...args: string[]) => {
          const { code, stdout, stderr } = await cli(agent, ...args);
          expect(code, stderr).toBe(0);
          return stdout;
        };
        await until(() => fetch(`http://127.0.0.1:${templatePort}`).catch(() => undefined));
        for (const wallet of [[], ['renter.json']])
          await said('wallet', 'create', ...wallet, '--fund', '1', '--airdrop');
        const { listing_id: id } = JSON.parse(await said('publish', '--json')) as { listing_id: string };
        await said('rent', id, '--wallet', 'renter.json', '--yes');
        const input = ['--input', '{"text":"Two words"}', '--wallet', 'renter.json'];
        expect(await said('run', id, 'Count.', ...input)).toContain('"words":2');
      } finally {
        if (served.pid !== undefined) process.kill(-served.pid, 'SIGKILL');
      }
    },
    TIMEOUT_MS,
  );
});

/** Puts an agent that Python serves on sale; gives the listing's id. */
async function sell(creator: Participant, name: string, url: string, secretFile: string): Promise<string> {
  const registered = await creator.client.registerAgent({
    name: `python-${name}`,
    category: 'research',
    description: 'An agent in Python.',
    model: { provider: 'openai', model: 'none' },
    entrypoint_url: url,
    input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    output_schema: { type: 'string' },
    listing: { rental_model: 'per_query', price_lamports: PRICE, sample_output: ['A sample.'] },
  });
  await writeFile(secretFile, registered.webhook_secret ?? '');
  const job = await jobEnd(creator.client, registered.job_id);
  if (!job.result) throw new Error(JSON.stringify(job.error));
  await publish(creator.client, creator.signer, job.result.listing_id);
  return job.result.listing_id;
}
