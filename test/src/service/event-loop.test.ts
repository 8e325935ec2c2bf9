import { gzipSync } from 'node:zlib';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, login } from '../support/http.js';
import { IS_QUICK, sampleOf, SEED } from '../support/form.js';
import { watchLoop, type LoopWatch } from '../support/processes/loop-watch.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';

/** No request may hold the event loop for so long. */
const MOST_HELD_MS = 50;
/**
 * Garbage collection and the first execution of code hold the loop once; the work of a request holds it every time. So the
 * least of a few attempts counts.
 */
const ATTEMPTS = 4;
/** Requests to a route in CI. Each route has others. */
const SAMPLE = 8;

let marketplace: OwnMarketplace;
let stateDir: string;
let watch: LoopWatch;
let token: string;
beforeAll(async () => {
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, {
    EXAMPLES: 'off',
    NODE_OPTIONS: '--inspect=127.0.0.1:0',
  });
  watch = await watchLoop(marketplace);
  token = await login(marketplace, Keypair.generate());
}, 120_000);
afterAll(async () => {
  watch?.close();
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

const MEGABYTE = 1024 * 1024;
const repeated = (part: string, bytes: number) => part.repeat(Math.floor(bytes / part.length));
const emptyArrays = (bytes: number) => `[${repeated('[],', bytes)}[]]`;
const members = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":${at}`).join();
const manifest = (fields: string) =>
  `{"name":"ugly","category":"research","description":"x","model":{"provider":"openai","name":"m"},${fields}}`;
const toolCall = (input: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_agent","arguments":{"agent_id":"a-aaaaaa","task":"t","input":${input}}}}`;
const order = (input: string) => `{"agent_id":"nothing-aaaaaa","task":"t","input":${input}}`;

const BODIES: Record<string, string | Uint8Array<ArrayBuffer>> = {
  '8 MiB of empty arrays': emptyArrays(8 * MEGABYTE),
  '1.4 MB of empty arrays': emptyArrays(1_400_000),
  '250 KB of empty arrays': emptyArrays(250_000),
  '60 KB of empty arrays': emptyArrays(60_000),
  '15 KB of empty arrays': emptyArrays(15_000),
  'deep arrays': `${'['.repeat(700_000)}${']'.repeat(700_000)}`,
  'deep arrays of 60 KB': `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
  'arrays that never end': '['.repeat(1_400_000),
  '100,000 members': `{${members(100_000)}}`,
  '4,000 members': `{${members(4_000)}}`,
  'one member again and again': `{${repeated('"a":1,', 1_400_000)}"a":1}`,
  'a long text': `{"task":"${'x'.repeat(1_400_000)}"}`,
  'a long text of escapes': `{"task":"${repeated('\\u0041', 1_400_000)}"}`,
  'a huge number': `{"task":${'9'.repeat(1_400_000)}}`,
  'many numbers': `{"task":[${repeated('1e9,', 1_400_000)}1]}`,
  'keys of prototypes': `{"input":[${repeated('{"__proto__":1},', 1_400_000)}1]}`,
  'a manifest of empty tools': manifest(`"tools":${emptyArrays(1_300_000)}`),
  'a manifest of 250 KB': manifest(`"tools":${emptyArrays(249_000)}`),
  'a manifest of 60 KB': manifest(`"tools":${emptyArrays(60_000)}`),
  'a schema of 60 KB': manifest(`"input_schema":{"properties":{${members(5_000)}}}`),
  'terms of many members': `{"name":"ugly","listing":{${members(4_900)}}}`,
  'an input of empty arrays': order(`{"a":${emptyArrays(1_000_000)}}`),
  'an input of 19,000 values': order(`{"a":[${repeated('"abc",', 19_000 * 6)}1]}`),
  'an input of 38,000 values': order(`{"a":[${repeated('"abc",', 38_000 * 6)}1]}`),
  'an input of 1 MB of text': order(`{"a":"${'x'.repeat(1_000_000)}"}`),
  'a call of a tool with 1 MB': toolCall(`{"a":[${repeated('"abc",', 1_000_000)}1]}`),
  'a call of a tool with 19,000 values': toolCall(`{"a":[${repeated('"abc",', 19_000 * 6)}1]}`),
  'a call of a tool with 38,000 values': toolCall(`{"a":[${repeated('"abc",', 38_000 * 6)}1]}`),
  'a call of a tool with 60 KB': toolCall(emptyArrays(60_000)),
  'no UTF-8': new Uint8Array(1_400_000).fill(0xff),
  'no JSON': 'x'.repeat(1_400_000),
  'zeros in gzip': new Uint8Array(gzipSync(Buffer.alloc(8 * MEGABYTE, '['))),
};

/** Queries of requests without a body. */
const QUERIES: Record<string, string> = {
  'many parameters': `?${repeated('a&', 12_000)}`,
  'one parameter again and again': `?${repeated('q=a&', 12_000)}`,
  'a long parameter': `?q=${'a'.repeat(12_000)}`,
  'many words': `?q=${repeated('ab%20', 12_000)}`,
  'many escapes': `?q=${repeated('%F0%9F%98%80', 12_000)}`,
};

/** The longest hold of the loop while a request is served, and by its remaining work afterwards. */
async function heldBy(
  path: string,
  method: string,
  body?: string | Uint8Array<ArrayBuffer>,
): Promise<number> {
  const headers: Record<string, string> = {
    authorization: `Bearer ${token}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(path.startsWith('/mcp') ? { accept: 'application/json, text/event-stream' } : {}),
  };
  await watch.takeLongestHoldMs();
  let jobId: unknown;
  try {
    const response = await fetch(marketplace.dev.base_url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    if (response.status === 202) jobId = (JSON.parse(text || '{}') as { job_id?: unknown }).job_id;
  } catch {
    // A connection that is cut while it sends is an answer, too.
  }
  if (typeof jobId === 'string') await jobEnd(jobId);
  return watch.takeLongestHoldMs();
}

async function jobEnd(jobId: string): Promise<void> {
  const { body: job } = await call(marketplace, 'GET', `/v1/jobs/${jobId}`, { token });
  if (job['status'] === 'queued') await jobEnd(jobId);
}

test.skipIf(IS_QUICK)(
  'a sample of requests of strangers holds the event loop for 50 ms on no route [ERR-33]',
  { timeout: 600_000 },
  async () => {
    const routes = marketplace.routes.filter(({ method }) => method !== 'HEAD' && method !== 'OPTIONS');
    expect(routes.length).toBeGreaterThan(30);
    const tooLong: string[] = [];
    for (const [index, { method, path }] of routes.entries()) {
      const url = path.replaceAll(/:\w+/g, 'nothing-aaaaaa').replaceAll('*', 'nothing');
      const takesBody = method !== 'GET' && method !== 'DELETE';
      const requests = takesBody
        ? Object.entries(BODIES).map(([what, body]) => ({ what, url, body }))
        : Object.entries(QUERIES).map(([what, query]) => ({ what, url: url + query, body: undefined }));
      for (const request of sampleOf<(typeof requests)[number]>(requests, SAMPLE, SEED + index)) {
        let held = Number.POSITIVE_INFINITY;
        for (let attempt = 0; attempt < ATTEMPTS && held >= MOST_HELD_MS; attempt += 1) {
          held = Math.min(held, await heldBy(request.url, method, request.body));
        }
        if (held >= MOST_HELD_MS) tooLong.push(`${method} ${path}: ${request.what}: ${Math.round(held)} ms`);
      }
    }
    expect(tooLong).toEqual([]);
  },
);
