import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { login } from '@agent-rental/test/support/http';
import type { Marketplace } from '@agent-rental/test/support/marketplace';

/** The packages that the fuzzer needs, pinned. */
export const REQUIREMENTS = fileURLToPath(
  new URL('../../src/api/schemathesis-requirements.txt', import.meta.url),
);

/**
 * The one check that is left out. The API may refuse a request that fits its schema. For instance, a cursor belongs to one list,
 * a transaction needs a signature, and a wallet's address is a point of a curve.
 */
const LEFT_OUT = 'positive_data_acceptance';

/**
 * A review's answer belongs to the creator of its agent. The renter who wrote the review is told that the agent is not theirs, by
 * 404, which the fuzzer takes for a lost review.
 */
const SETTINGS = `[[operations]]
include-name = "DELETE /v1/listings/{id}/reviews/{reviewer}/answer"
checks.ensure_resource_availability.enabled = false
`;

/** The options of the fuzzer. */
export interface FuzzOptions {
  /** An interpreter with the packages of {@link REQUIREMENTS}. */
  python: string;
  seed: number;
  /** The most random requests per operation, in addition to requests at the limits of its schema. */
  maxExamples: number;
  /** The time of the run. Random requests are repeated until its end. Default: as long as `maxExamples` take. */
  seconds?: number | undefined;
  onOutput?: (chunk: string) => void;
}

/** The result of the fuzzer. */
export interface FuzzReport {
  /** 0 when the OpenAPI document describes every answer. */
  code: number | null;
  output: string;
}

/**
 * Sends requests from the marketplace's OpenAPI document as the ready-made renter. They are valid, at the limits of the schema, or
 * invalid. The document must describe each answer, and no answer may be a 5xx.
 */
export async function fuzzApi(marketplace: Marketplace, options: FuzzOptions): Promise<FuzzReport> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-rental-fuzz-'));
  try {
    const document = join(folder, 'openapi.json');
    await writeFile(document, JSON.stringify(await documentOf(marketplace)));
    await writeFile(join(folder, 'schemathesis.toml'), SETTINGS);
    const token = await login(marketplace, await marketplace.wallet('renter'));
    const args = [
      document,
      `--url=${marketplace.dev.base_url}`,
      `--header=Authorization: Bearer ${token}`,
      '--checks=all',
      `--exclude-checks=${LEFT_OUT}`,
      '--mode=all',
      '--continue-on-failure',
      `--seed=${options.seed}`,
      `--max-examples=${options.maxExamples}`,
      ...(options.seconds ? [`--max-time=${options.seconds}`] : []),
      '--generation-database=none',
      '--no-shrink',
      '--request-timeout=60',
      '--warnings=off',
    ];
    const child = spawn(options.python, ['-m', 'schemathesis.cli', '--no-color', 'run', ...args], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
        options.onOutput?.(chunk);
      });
    }
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return { code, output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Reads the server's document for the fuzzer. Its examples use a rented agent whose runs cost nothing. The schema of a stream's
 * events is moved to the fuzzer's place for it.
 */
async function documentOf(marketplace: Marketplace): Promise<unknown> {
  const response = await fetch(`${marketplace.dev.base_url}/openapi.json`);
  const withEvents = (_: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && 'x-event-schema' in value
      ? { ...value, schema: value['x-event-schema'] }
      : value;
  const document = JSON.parse(await response.text(), withEvents) as {
    paths: Record<
      string,
      Record<string, { requestBody?: { content: Record<string, { example: unknown }> } }>
    >;
  };
  const request = await marketplace.request('one_time');
  const exampleOf = (path: string) => {
    const content = document.paths[path]?.['post']?.requestBody?.content['application/json'];
    if (!content) throw new Error(`The document has no body of POST ${path}.`);
    return content;
  };
  const { agent_id: placeholder } = exampleOf('/v1/execute').example as { agent_id: string };
  for (const path of ['/v1/execute', '/v1/execute/stream']) exampleOf(path).example = request;
  return JSON.parse(
    JSON.stringify(document).replaceAll(placeholder, marketplace.listing('one_time').id),
  ) as unknown;
}
