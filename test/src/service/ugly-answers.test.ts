import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { JSON_BOUNDS } from '@agent-rental/contract';
import type { JsonEntry } from '@agent-rental/server/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PRICE, rentAgent, textAgent } from '../support/agents/agents.js';
import { sellAgent } from '../support/agents/market-agents.js';
import { IS_QUICK, sampleOf, SEED } from '../support/form.js';
import { call } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { watchLoop, type LoopWatch } from '../support/processes/loop-watch.js';

const MOST_HELD_MS = 50;
/** Garbage collection and first executions hold the loop once, the work of an answer each time: the least counts. */
const ATTEMPTS = 4;
/** Texts at a place in CI. Each place has others. */
const SAMPLE = 5;
const MIB = 1024 * 1024;

const repeated = (part: string, bytes: number) => part.repeat(Math.floor(bytes / part.length));
const members = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":${at}`).join();
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** JSON texts of strangers: just within a bound, and far beyond it. */
const TEXTS: Record<string, string> = {
  'as many values as allowed': `{"a":[${repeated('1,', 2 * 49_000)}1]}`,
  'as many empty arrays as allowed': `{"a":[${repeated('[],', 3 * 49_000)}[]]}`,
  'as many names as allowed': `{${members(7_900)}}`,
  'as many members as allowed': `{"a":[${repeated('{"a":1},', 8 * 24_900)}1]}`,
  'too many names': `{${members(49_000)}}`,
  'a text of 1 MB': `{"a":"${'x'.repeat(1_000_000)}"}`,
  'a text of escapes': `{"a":"${repeated('\\u0041', 1_000_000)}"}`,
  '64 levels': `{"a":${nested(63)}}`,
  '8 MiB of empty arrays': `{"a":[${repeated('[],', 8 * MIB)}[]]}`,
  '8 MiB of text': `{"a":"${'x'.repeat(8 * MIB)}"}`,
  'deep arrays': nested(500_000),
  'many long numbers': `{"a":[${repeated('1.2345678901234567,', MIB - 100)}1]}`,
  'a number that would change': '{"a":1917043659912705297}',
  '1 MB of digits': `{"a":${'9'.repeat(1_000_000)}}`,
};

/** A way in which the text of a stranger reaches the service. */
type Place = 'JSON' | 'event' | 'delta' | 'model' | 'file';

/** The places at which each entry of JSON is played. */
const PLACES: Record<JsonEntry, readonly Place[]> = {
  endpoint_answer: ['JSON'],
  endpoint_event: ['event', 'delta'],
  model_event: ['model'],
  input_file: ['file'],
  // `event-loop.test.ts` plays requests on each route.
  request_body: [],
  manifest_body: [],
  mcp_message: [],
  // A document has at most 10,000 bytes.
  client_document: [],
};

let stateDir: string;
let marketplace: OwnMarketplace;
let watch: LoopWatch;
let renter: Participant;
let strangers: Server;
let listings: { connected: string; declarative: string };
/** The next answer of the connected agent and of the model. */
let answer: { type: string; body: string } = { type: 'application/json', body: '{}' };

const asEvents = (...events: string[]) => ({
  type: 'text/event-stream',
  body: events.map((event) => `${event}\n\n`).join(''),
});
const completion = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}`;

beforeAll(async () => {
  stateDir = await newStateDir();
  strangers = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': answer.type });
      response.end(answer.body);
    });
  });
  await new Promise<void>((resolve) => strangers.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(strangers.address() as AddressInfo).port}`;
  marketplace = await startMarketplace(stateDir, {
    EXAMPLES: 'off',
    NODE_OPTIONS: '--inspect=127.0.0.1:0',
    ALLOW_LOOPBACK: url,
  });
  const creator = await newParticipant(marketplace);
  renter = await newParticipant(marketplace);
  const terms = {
    rental_model: 'per_query',
    price_lamports: PRICE,
    min_deposit_lamports: PRICE,
    sample_output: ['{}'],
  };
  const connected = await sellAgent(creator, 'connected', url, { output_schema: {}, listing: terms });
  answer = asEvents(completion({ content: 'Yes' }, 'stop'), 'data: [DONE]');
  const declarative = await sellAgent(creator, 'declarative', `${url}/v1`, {
    ...textAgent(`${url}/v1`),
    output_schema: { type: 'string' },
    listing: terms,
  });
  listings = { connected: connected.id, declarative: declarative.id };
  await rentAgent(renter, listings.connected, 1_000);
  await rentAgent(renter, listings.declarative, 200);
  watch = await watchLoop(marketplace);
}, 180_000);
afterAll(async () => {
  watch?.close();
  await marketplace?.stop();
  strangers?.close();
  await removeStateDir(stateDir);
});

/** Makes the run, with the text at its place, and reads it again by HTTP and MCP. */
async function playRun(place: Place, text: string): Promise<void> {
  let request: Record<string, unknown> = {};
  switch (place) {
    case 'JSON':
      answer = { type: 'application/json', body: text };
      break;
    case 'event':
      answer = asEvents(`event: done\ndata: {"output":${text}}`);
      break;
    case 'delta':
      answer = asEvents(`event: output\ndata: {"delta":${JSON.stringify(text)}}`, 'event: done\ndata: {}');
      break;
    case 'model':
      answer = asEvents(
        `data: ${text}`,
        completion({ content: text }, null),
        completion({}, 'stop'),
        'data: [DONE]',
      );
      break;
    case 'file': {
      answer = { type: 'application/json', body: '{}' };
      const headers = { 'content-type': 'application/json' };
      const stored = await call(marketplace, 'POST', '/v1/files', {
        token: renter.token,
        raw: text,
        headers,
      });
      request = { input_uri: stored.body['input_uri'] };
      break;
    }
    default:
      place satisfies never;
  }
  const agent_id = place === 'model' ? listings.declarative : listings.connected;
  const body = { agent_id, task: 'Do it.', ...request };
  const done = await call(marketplace, 'POST', '/v1/execute', { token: renter.token, body });
  const runId = done.body['run_id'];
  if (typeof runId !== 'string') return;
  await call(marketplace, 'GET', `/v1/runs/${runId}`, { token: renter.token });
  await fetch(`${marketplace.dev.base_url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${renter.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'get_run', arguments: { run_id: runId } },
    }),
  }).then((response) => response.text());
}

test.skipIf(IS_QUICK)(
  'a sample of answers, events, files and stored outputs of strangers never holds the event loop for 50 ms',
  { timeout: 600_000 },
  async () => {
    const tooLong: string[] = [];
    for (const [index, place] of Object.values(PLACES).flat().entries()) {
      for (const [what, text] of sampleOf(Object.entries(TEXTS), SAMPLE, SEED + index)) {
        let held = Number.POSITIVE_INFINITY;
        for (let attempt = 0; attempt < ATTEMPTS && held >= MOST_HELD_MS; attempt += 1) {
          await watch.takeLongestHoldMs();
          await playRun(place, text);
          held = Math.min(held, await watch.takeLongestHoldMs());
        }
        if (held >= MOST_HELD_MS) tooLong.push(`${place}: ${what}: ${Math.round(held)} ms`);
      }
    }
    expect(tooLong).toEqual([]);
  },
);

test.skipIf(IS_QUICK)(
  'an output beyond the bounds is a failed run that says the limit and the remedy',
  async () => {
    answer = { type: 'application/json', body: TEXTS['8 MiB of text'] ?? '' };
    const body = { agent_id: listings.connected, task: 'Do it.' };
    const done = await call(marketplace, 'POST', '/v1/execute', { token: renter.token, body });
    expect(done.body).toMatchObject({
      status: 'failed',
      output: expect.stringContaining(`${JSON_BOUNDS.bytes} bytes`),
    });
    expect(done.body['output']).toContain('Return the address of a file');
  },
);
