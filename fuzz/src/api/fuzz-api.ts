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
 * Left out: `positive_data_acceptance`, because a request that fits its schema may still be refused (a transaction needs a
 * signature that a fuzzer cannot produce), and `unsupported_method`, because an unknown route is 404 here, whatever the method.
 */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'ignored_auth',
];

/** How much is tried. */
export interface FuzzOptions {
  /** An interpreter with the packages of {@link REQUIREMENTS}. */
  python: string;
  seed: number;
  /** Most random requests per operation, beside those at the borders of its schema. */
  maxExamples: number;
  onOutput?: (chunk: string) => void;
}

/** What the fuzzer said in the end. */
export interface FuzzReport {
  /** 0 when every answer was as the OpenAPI document says. */
  code: number | null;
  output: string;
}

/**
 * Sends requests made from the marketplace's own OpenAPI document, as the ready-made renter: valid ones, ones at the
 * borders, and ones that break the schema; each answer has to be one that the document describes, and none a 5xx.
 */
export async function fuzzApi(marketplace: Marketplace, options: FuzzOptions): Promise<FuzzReport> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-rental-fuzz-'));
  try {
    const document = join(folder, 'openapi.json');
    await writeFile(document, JSON.stringify(await documentOf(marketplace)));
    const token = await login(marketplace, await marketplace.wallet('renter'));
    const args = [
      document,
      `--url=${marketplace.dev.base_url}`,
      `--header=Authorization: Bearer ${token}`,
      `--checks=${CHECKS.join(',')}`,
      '--phases=examples,coverage,fuzzing',
      '--mode=all',
      '--continue-on-failure',
      `--seed=${options.seed}`,
      `--max-examples=${options.maxExamples}`,
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
 * The server's document with examples that lead somewhere, a rented agent whose runs cost nothing, and with the schema of
 * a stream's events where the fuzzer looks for it.
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
