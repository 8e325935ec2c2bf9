import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publish } from '@agent-rental/sdk/solana';
import { npmTool } from '@agent-rental/stand-in/npm-tool';
import { fileLedger } from '@agent-rental/tools/node';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { jobEnd, PRICE } from '../support/agents/agents.js';
import { FORM, sampleOf } from '../support/form.js';
import { takePort } from '../support/loopback-ports.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { until } from '../support/timing/until.js';
import { pythonEnvironment } from '../support/toolchains/python-environment.js';
import {
  buildPythonPackage,
  PYTHON_PACKAGE,
  type BuiltPackage,
} from '../support/toolchains/python-package.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);
const TIMEOUT_MS = 120_000;
/** A framework has a hundred packages, and one of its runs takes 20 s. */
const FRAMEWORK_TIMEOUT_MS = 600_000;
const MOST_BYTES = 1_000_000;
const IN_FULL = FORM === 'full';

const environment = await pythonEnvironment(join(PYTHON_PACKAGE, 'requirements.txt'));
if ('missing' in environment)
  process.stderr.write(`The Python package was NOT RUN: ${environment.missing}\n`);

let built: BuiltPackage;
let python: string;

beforeAll(async () => {
  if ('missing' in environment) throw new Error(environment.missing);
  python = environment.python;
  built = await buildPythonPackage(python);
  await mkdir(join(built.folder, 'documents'));
  for (const [name, path] of [
    ['README.md', 'README.md'],
    ['python.md', 'docs/python.md'],
  ] as const)
    await cp(join(ROOT, path), join(built.folder, 'documents', name));
}, TIMEOUT_MS);

afterAll(() => built && rm(built.folder, { recursive: true, force: true }));

/** Checks by pyright; its first line. */
async function pyright(interpreter: string, ...files: string[]): Promise<string> {
  const program = await npmTool('pyright', '1.1.414', 'index.js');
  const args = [program, '--pythonpath', interpreter, '--level', 'error', ...files];
  const options = { cwd: built.folder, env: built.variables(interpreter) };
  return (await run(process.execPath, args, options).catch((error: { stdout: string }) => error)).stdout;
}

describe('the package', () => {
  test('has less than 1 MB of code, and its dependencies are of the versions that it names', async () => {
    expect(await bytesOf(join(built.site, 'agent_rental'))).toBeLessThan(MOST_BYTES);
    expect((await built.python(['-m', 'pip', 'check'])).said).toBe('No broken requirements found.\n');
  });

  test('is clean for mypy in strict mode, as a program of ten lines is, and for ruff', async () => {
    // mypy reports no error in files that it finds by PYTHONPATH.
    const ownPath = { MYPYPATH: built.site, PYTHONPATH: '' };
    const strict = ['-m', 'mypy', '--cache-dir', join(python, '../../mypy'), 'tests', 'hatch_build.py'];
    expect((await built.python(strict, ownPath)).said).toMatch(/^Success: no issues/);
    const files = ['src', 'tests', 'hatch_build.py'];
    expect((await built.python(['-m', 'ruff', 'check', ...files])).said).toBe('All checks passed!\n');
    expect((await built.python(['-m', 'ruff', 'format', '--check', ...files])).isError).toBe(false);
  });

  test.runIf(IN_FULL)(
    'is clean for pyright in a program of ten lines',
    async () => expect(await pyright(python, 'tests/typed_use.py')).toMatch(/^0 errors/),
    TIMEOUT_MS,
  );

  test.runIf(IN_FULL)(
    'has a reference, made of its docstrings without a warning',
    async () => {
      const made = await run(process.execPath, [join(ROOT, 'scripts/api-docs/python.mjs')]);
      expect(made.stderr).toBe('');
      expect(await readdir(join(ROOT, 'dist/api-python'))).toContain('agent_rental.html');
    },
    TIMEOUT_MS,
  );

  test('counts the day in a folder that the TypeScript tools share [REN-4]', async () => {
    const folder = join(built.folder, 'spending');
    const ledger = fileLedger(folder);
    const spent = { kind: 'rental', listingId: 'a-aaaaaa', lamports: 40n, allowedLamports: 40n } as const;
    await ledger.add({ ...spent, id: 'one', timeMs: Date.now() });
    const program = `import sys
from agent_rental import SpendingPolicy, SpendingRequest
policy = SpendingPolicy(max_day=100, folder=sys.argv[1])
policy.reserve(SpendingRequest("rental", "a-aaaaaa", int(sys.argv[2])))
policy.note_agreed("a-aaaaaa", 7)`;
    const spend = (lamports: number) => built.python(['-c', program, folder, `${lamports}`]);
    expect((await spend(61)).said).toContain('SpendingRefusedError: max_day');
    expect(await spend(60)).toEqual({ said: '', isError: false });
    expect((await ledger.since(0)).reduce((sum, { lamports }) => sum + lamports, 0n)).toBe(100n);
    expect(await ledger.agreedPrices.highest('a-aaaaaa')).toBe(7n);
  });
});

async function bytesOf(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile() && !file.name.endsWith('.pyc'))
    .map(async (file) => (await stat(join(file.parentPath, file.name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

describe('against a marketplace', () => {
  let marketplace: Marketplace;
  let agents: ChildProcess | undefined;
  let agentsUrl: string;
  const own: Record<string, string> = {};

  beforeAll(async () => {
    const port = await takePort();
    const secrets = join(built.folder, 'secrets');
    const url = `http://127.0.0.1:${port}`;
    agentsUrl = url;
    await mkdir(secrets);
    agents = spawn(python, ['tests/own_agents.py'], {
      cwd: built.folder,
      env: built.variables(python, { PORT: String(port), SECRETS: secrets }),
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    marketplace = await attach(inject('stateDir'));
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
      const tested = await built.python(['-m', 'pytest', '--tb=short', 'tests'], {
        AGENT_RENTAL_TEST_MARKET: JSON.stringify(market),
      });
      expect(tested.said).toMatch(/\d{2} passed in /);
      expect(tested.said).not.toMatch(/failed|skipped|error/i);
    },
    TIMEOUT_MS,
  );

  test.each(sampleOf(['the served archive', 'the wheel', 'the source distribution'] as const, 1))(
    'pip installs %s into an empty environment, in less than 1 MB of our own [SVC-20]',
    async (kind) => {
      const empty = await mkdtemp(join(tmpdir(), 'agent-rental-empty-python-'));
      onTestFinished(() => rm(empty, { recursive: true }));
      await run('python3', ['-m', 'venv', empty]);
      const inside = join(empty, 'bin/python');
      const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
      const from = {
        'the served archive': `${marketplace.dev.base_url}/packages/python.tgz`,
        'the wheel': built.wheel,
        'the source distribution': built.sdist,
      }[kind];
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input', from];
      await run(inside, pip, { env, cwd: empty });
      const program = 'import agent_rental; print(agent_rental.__file__)';
      const { stdout } = await run(inside, ['-c', program], { env, cwd: empty });
      expect(stdout).toContain(empty);
      expect(await bytesOf(join(stdout.trim(), '..'))).toBeLessThan(MOST_BYTES);
    },
    TIMEOUT_MS,
  );

  // Their packages are many, and a run takes 20 s.
  describe.runIf(IN_FULL).each([
    ['frameworks', ['langchain', 'openai_agents', 'pydantic_ai', 'anthropic', 'google_adk']],
    ['crewai', ['crewai']],
  ])('in the environment of %s', (requirements, frameworks) => {
    let inside: string;
    beforeAll(async () => {
      const installed = await pythonEnvironment(join(PYTHON_PACKAGE, `requirements-${requirements}.txt`));
      if ('missing' in installed) throw new Error(installed.missing);
      inside = installed.python;
    }, FRAMEWORK_TIMEOUT_MS);

    test(
      'the tools are clean for pyright',
      async () => {
        const files = frameworks.map((name) => `src/agent_rental/tools/${name}.py`);
        expect(await pyright(inside, ...files)).toMatch(/^0 errors/);
      },
      FRAMEWORK_TIMEOUT_MS,
    );

    // The packages of the others keep mypy busy for minutes.
    test.runIf(requirements === 'crewai')(
      "the crew's tools are clean for mypy in strict mode",
      async () => {
        const cache = ['--cache-dir', join(python, '../../mypy-crewai')];
        const strict = ['-m', 'mypy', '--python-executable', inside, ...cache];
        const checked = await built.python([...strict, 'src/agent_rental/tools/crewai.py'], {
          MYPYPATH: 'src',
        });
        expect(checked.said).toMatch(/^Success: no issues/);
      },
      FRAMEWORK_TIMEOUT_MS,
    );

    test.each(frameworks)(
      'a model in %s has one charge for each run, also for a failed one and one of 20 s, and none without a balance',
      async (framework) => {
        const env = built.variables(inside, {
          AGENT_RENTAL_TEST_MARKET: JSON.stringify(await marketOfTests()),
          OTEL_SDK_DISABLED: 'true',
          HOME: built.folder,
        });
        const options = { cwd: built.folder, timeout: FRAMEWORK_TIMEOUT_MS, env };
        const { stdout } = await run(inside, ['tests/frameworks.py', framework], options);
        expect(stdout.match(/: charges [01]\.0, ['"]DONE/g)).toHaveLength(5);
        // A crew cannot interrupt its tools.
        const cancelled = framework === 'crewai' ? 0 : 1;
        expect(stdout.match(/left: the agent was cancelled, charged once/g) ?? []).toHaveLength(cancelled);
      },
      FRAMEWORK_TIMEOUT_MS,
    );
  });
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
