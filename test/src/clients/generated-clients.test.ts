import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { npmTool } from '@agent-rental/stand-in/npm-tool';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newRenter } from '../support/renter.js';
import { npmBinary } from '../support/toolchains/npm-binary.js';
import { pythonEnvironment, runPython } from '../support/toolchains/python-environment.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const PROGRAMS = join(root, 'test/generated-clients');
const TIMEOUT_MS = 120_000;
const PYTHON_PACKAGE = 'agent_rental_marketplace_api_client';

const onCi = process.env['CI'] !== undefined;
const python = await pythonEnvironment(join(root, 'packages/python/requirements.txt'));
const openapiTypescript = await npmTool('openapi-typescript', '7.13.0', 'bin/cli.js', [
  'openapi-fetch@0.17.0',
  'typescript@5.9.3',
]).catch((error: Error) => error);
// It needs a newer Node than the oldest supported one, and finds no compiler in TypeScript 7.
const heyApi = await Promise.all([
  npmBinary('Node 22'),
  npmTool('@hey-api/openapi-ts', '0.99.0', 'bin/run.js', ['typescript@5.9.3']),
]).catch((error: Error) => error);
if ('missing' in python) process.stderr.write(`openapi-python-client was NOT RUN: ${python.missing}\n`);
if (openapiTypescript instanceof Error)
  process.stderr.write(`openapi-typescript was NOT RUN: ${openapiTypescript.message}\n`);
if (heyApi instanceof Error) process.stderr.write(`@hey-api/openapi-ts was NOT RUN: ${heyApi.message}\n`);

let marketplace: Marketplace;
let folder: string;
let document: string;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  folder = await mkdtemp(join(tmpdir(), 'agent-rental-generated-'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  document = join(folder, 'openapi.json');
  const answer = await fetch(new URL('/openapi.json', marketplace.dev.base_url));
  await writeFile(document, await answer.text());
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** The job of a generated client, for a wallet that has rented nothing. */
async function newJob() {
  const { wallet } = await newRenter(marketplace);
  const { task, input } = await marketplace.request('per_query');
  return {
    base_url: marketplace.dev.base_url,
    secret_key: [...wallet.secretKey],
    q: 'expenses',
    task,
    input,
  };
}

function expectWhole(answer: unknown, job: Awaited<ReturnType<typeof newJob>>, mediaType: string): void {
  const cost = expect.any(Number) as number;
  expect(answer).toMatchObject({
    listing_id: marketplace.listing('per_query').id,
    file: { media_type: mediaType },
    status: 'completed',
    cost,
    output: expect.any(Object) as object,
    read: { status: 'completed', cost, has_error: false },
    refused: 'not_found',
  });
  const { file } = answer as { file: { size_bytes: number } };
  expect(file.size_bytes).toBeGreaterThanOrEqual(JSON.stringify(job.input).length);
}

/** A TypeScript project with a program in it, in strict mode. */
async function newProject(program: string, options: object = {}): Promise<string> {
  const project = join(folder, program.replace(/\.ts$/, ''));
  await mkdir(project);
  await copyFile(join(PROGRAMS, program), join(project, program));
  await writeFile(join(project, 'package.json'), '{"type":"module"}');
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    ...options,
    skipLibCheck: true,
    noEmitOnError: true,
  };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [program] }));
  return project;
}

/** Compiles a project and runs its program. */
async function runProject(project: string, job: object): Promise<unknown> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const compiled = await run(process.execPath, [compiler, '-p', project], { timeout: TIMEOUT_MS }).catch(
    (error: { stdout: string }) => error,
  );
  expect(compiled.stdout).toBe('');
  const program = join(project, `${basename(project)}.js`);
  const { stdout } = await run(process.execPath, [program, JSON.stringify(job)], { timeout: TIMEOUT_MS });
  return JSON.parse(stdout);
}

describe('a client generated from the OpenAPI document compiles, and goes from login to a run', () => {
  const hasTypes = !(openapiTypescript instanceof Error);
  test.runIf(onCi || hasTypes)('by openapi-typescript, for openapi-fetch [SVC-5]', async () => {
    if (openapiTypescript instanceof Error) throw openapiTypescript;
    const project = await newProject('openapi-fetch-renter.ts', { exactOptionalPropertyTypes: true });
    // Installed beside the generator; the program's other imports are found above the project.
    await symlink(resolve(openapiTypescript, '../../..'), join(project, 'node_modules'));
    await run(process.execPath, [openapiTypescript, document, '-o', join(project, 'schema.d.ts')], {
      timeout: TIMEOUT_MS,
    });
    const job = await newJob();
    expectWhole(await runProject(project, job), job, 'application/json');
  });

  test.runIf(onCi || !(heyApi instanceof Error))('by @hey-api/openapi-ts [SVC-5]', async () => {
    if (heyApi instanceof Error) throw heyApi;
    const [node, generator] = heyApi;
    const project = await newProject('hey-api-renter.ts');
    // Installed in the project, it would find this file by itself.
    const output = { path: 'client', tsConfigPath: join(project, 'tsconfig.json') };
    await writeFile(join(project, 'openapi-ts.config.json'), JSON.stringify({ input: document, output }));
    const { stdout, stderr } = await run(node, [generator, '-f', 'openapi-ts.config.json'], {
      cwd: project,
      timeout: TIMEOUT_MS,
    });
    expect(stdout + stderr).not.toMatch(/warn|error|fail/i);
    const job = await newJob();
    expectWhole(await runProject(project, job), job, 'application/json');
  });

  test.runIf(onCi || 'python' in python)('by openapi-python-client [SVC-5]', async () => {
    if ('missing' in python) throw new Error(python.missing);
    const target = join(folder, 'python');
    const bin = dirname(python.python);
    const inBin = { env: { PATH: bin + delimiter + process.env['PATH'] }, timeout: TIMEOUT_MS };
    const { stdout, stderr } = await run(
      python.python,
      ['-m', 'openapi_python_client', 'generate', '--path', document, '--output-path', target],
      inBin,
    );
    const warnings = (stdout + stderr)
      .split('\n')
      .filter((line) => /warning p|unable|removal|^un/i.test(line));
    // It reads no pictures, sends files as `application/octet-stream`, and knows no media type range.
    expect(warnings).toEqual([
      'WARNING parsing GET /previews/{listing_id}.png within service.',
      'WARNING parsing GET /icons/{sha256} within service.',
      'WARNING parsing GET /icon.png within service.',
      'WARNING parsing POST /v1/files within runs.',
      'Unsupported content type */*',
    ]);

    const program = join(target, 'renter.py');
    await copyFile(join(PROGRAMS, 'renter.py'), program);
    const strict = ['-m', 'mypy', '--strict', '--no-incremental', PYTHON_PACKAGE, program];
    const checked = await run(python.python, strict, { ...inBin, cwd: target }).catch(
      (error: { stdout: string }) => error,
    );
    expect(checked.stdout).toMatch(/^Success: no issues found in \d{3} source files/);

    const job = await newJob();
    expectWhole(await runPython(python.python, program, job), job, 'application/octet-stream');
  });
});
