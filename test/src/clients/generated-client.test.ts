import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newRenter } from '../support/renter.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const TIMEOUT_MS = 60_000;

let marketplace: Marketplace;
let folder: string;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  folder = await mkdtemp(join(tmpdir(), 'agent-rental-generated-'));
  const document = new URL('/openapi.json', marketplace.dev.base_url);
  // Properties with a default may be left out of a request.
  const schema = await openapiTypescript(document, { defaultNonNullable: false });
  await writeFile(join(folder, 'schema.d.ts'), astToString(schema));
  await copyFile(join(root, 'test/generated-client/renter.ts'), join(folder, 'renter.ts'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmitOnError: true,
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['renter.ts'] }));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test('a client generated from the OpenAPI document compiles, and goes from login to a run [SVC-6]', async () => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const compiled = await run(process.execPath, [compiler, '-p', folder], { timeout: TIMEOUT_MS }).catch(
    (error: { stdout: string }) => error,
  );
  expect(compiled.stdout).toBe('');

  const { wallet } = await newRenter(marketplace);
  const request = await marketplace.request('per_query');
  const job = {
    base_url: marketplace.dev.base_url,
    secret_key: [...wallet.secretKey],
    q: 'expenses',
    task: request['task'],
    input: request['input'],
  };
  const { stdout } = await run(process.execPath, [join(folder, 'renter.js'), JSON.stringify(job)], {
    timeout: TIMEOUT_MS,
  });
  expect(JSON.parse(stdout)).toMatchObject({
    listing_id: marketplace.listing('per_query').id,
    status: 'completed',
    cost: expect.any(Number) as number,
    output: expect.any(Object) as object,
  });
});
