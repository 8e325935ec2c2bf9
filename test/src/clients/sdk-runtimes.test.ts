import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import type { scenario, ScenarioInput, ScenarioReport } from './sdk-runtimes/scenario.js';
import { IS_QUICK } from '../support/form.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { npmBinary, type RUNTIMES } from '../support/toolchains/npm-binary.js';

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('../../dist/clients/sdk-runtimes/main.js', import.meta.url));
const SCENARIO = fileURLToPath(new URL('../../dist/clients/sdk-runtimes/scenario.js', import.meta.url));
const RUN_TIMEOUT_MS = 60_000;

let marketplace: Marketplace;
let input: ScenarioInput;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  // A subscription pays for these runs: they cost the prepared renter nothing.
  const request = (await marketplace.request('subscription')) as ScenarioInput['request'] & object;
  input = { base_url: marketplace.dev.base_url, api_key: marketplace.apiKey, request };
});

/** Runs the scenario in a new process, with only the environment that any process has. */
async function inProcess(command: string, args: string[]): Promise<ScenarioReport> {
  const { stdout } = await run(command, [...args, MAIN, JSON.stringify(input)], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
    timeout: RUN_TIMEOUT_MS,
  });
  return JSON.parse(stdout) as ScenarioReport;
}

function expectAsTold(report: ScenarioReport): void {
  expect(report.refused).toEqual({ code: 'invalid_api_key', status: 401, has_request_id: true });
  expect(report.found).toContain(marketplace.listing('subscription').id);
  expect(report.done.status).toBe('completed');
  expect(JSON.parse(report.streamed)).toEqual(report.done.output);
  expect(report.aborted).toBe('The renter changed their mind.');
}

describe('the main entry of the sdk searches, streams and aborts', () => {
  test('on this Node', async () => {
    expectAsTold(await inProcess(process.execPath, []));
  });

  test('on Deno, which is allowed to reach the marketplace and nothing else', async () => {
    const fromDeno = createRequire(createRequire(import.meta.url).resolve('deno/package.json'));
    const { platform, arch } = process;
    const target = `${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`;
    const deno = join(dirname(fromDeno.resolve(`@deno/${target}/package.json`)), 'deno');
    const only = ['--no-prompt', '--no-remote', `--allow-net=${new URL(input.base_url).host}`];
    expectAsTold(await inProcess(deno, ['run', '--node-modules-dir=manual', '--no-lock', ...only]));
  });

  test('in a browser: bundled, with the globals of the web and none of Node [SVC-13, SDK-3, SDK-1]', async () => {
    const { outputFiles } = await build({
      entryPoints: [SCENARIO],
      bundle: true,
      platform: 'browser',
      format: 'iife',
      globalName: 'page',
      write: false,
    });
    const web =
      'fetch crypto AbortController Headers Response URL URLSearchParams TextEncoder TextDecoderStream TransformStream';
    const webGlobals = [...web.split(' '), 'setTimeout', 'clearTimeout'];
    const page = createContext(
      Object.fromEntries(webGlobals.map((name) => [name, Reflect.get(globalThis, name) as unknown])),
    );
    runInContext(outputFiles[0]?.text ?? '', page);
    expect(runInContext('typeof process + typeof Buffer + typeof require', page)).toBe('undefined'.repeat(3));
    const { scenario: inPage } = runInContext('page', page) as { scenario: typeof scenario };
    expectAsTold(await inPage(input));
  });

  test.skipIf(IS_QUICK).for(['Node 22', 'Bun'] satisfies (keyof typeof RUNTIMES)[])(
    'on %s, from npm',
    { timeout: 360_000 },
    async (name) => {
      expectAsTold(await inProcess(await npmBinary(name), []));
    },
  );
});
