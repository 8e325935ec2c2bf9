import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sendRun, startBusyMarketplace, type BusyMarketplace } from '../support/busy-marketplace.js';
import { IS_QUICK } from '../support/form.js';
import { call } from '../support/http.js';
import { findInMemory } from '../support/processes/process-memory.js';
import { descendants } from '../support/processes/processes.js';
import type { Renter } from '../support/renter.js';
import { slowTask } from '../support/agents/slow-agents.js';

const canary = (name: string) => `canary-${name}-${randomBytes(12).toString('hex')}`;
/** Random texts that must be found only in their allowed places. */
const CANARIES = {
  modelKey: canary('model-key'),
  systemPrompt: canary('system-prompt'),
  endpoint: canary('endpoint'),
  firstInput: canary('first-input'),
  secondInput: canary('second-input'),
  output: canary('output'),
};
const ALL = Object.values(CANARIES);
const CREATORS = [CANARIES.modelKey, CANARIES.systemPrompt, CANARIES.endpoint];

let market: BusyMarketplace;
let first: Renter;
let second: Renter;
let declarative: string;
let connected: string;
/** The requests that the agents received: they must hold the canaries. */
let arrived = '';

beforeAll(async () => {
  market = await startBusyMarketplace({ LOG_LEVEL: 'trace' }, (request, body) => {
    arrived += `${request.url} ${request.headers.authorization ?? ''} ${body}\n`;
  });
  declarative = await market.publish('declarative', 'canary-agent', {
    system_prompt: `You answer. ${CANARIES.systemPrompt}`,
    model_key: CANARIES.modelKey,
  });
  connected = await market.publish('connected', 'canary-connected', {
    entrypoint_url: `${market.agents.agentUrl}/${CANARIES.endpoint}`,
  });
  first = await market.renter([declarative, connected], 5);
  second = await market.renter([declarative, connected], 5);
}, 180_000);
afterAll(() => market?.close());

const begin = (renter: Renter, agentId: string, task: string, input: string, path?: '/v1/execute/stream') =>
  sendRun(market, path ?? '/v1/execute', renter, { agent_id: agentId, task, input });

/** The canaries in a text, as they are, as hexadecimal digits, and as base64. */
function canariesIn(text: string): string[] {
  return ALL.filter((each) =>
    [each, Buffer.from(each).toString('hex'), Buffer.from(each).toString('base64').slice(2, -4)].some(
      (form) => text.includes(form),
    ),
  );
}

const told = ({ status, headers, body }: Awaited<ReturnType<typeof begin>['answer']>) =>
  JSON.stringify({ status, headers, body });

describe('secrets', () => {
  test.skipIf(IS_QUICK)(
    'of creators are not in the memory of sandboxes, nor is the input of another run [EXE-44]',
    { timeout: 120_000 },
    async ({ skip }) => {
      const runs = [
        begin(first, declarative, slowTask(20_000, 'one'), CANARIES.firstInput),
        begin(second, declarative, slowTask(20_000, 'two'), CANARIES.secondInput, '/v1/execute/stream'),
      ];
      // Both wait for the model: their sandboxes have all their data by now.
      await vi.waitUntil(() => market.agents.open === 2, { timeout: 60_000 });
      const children = await descendants(market.server.process.pid ?? 0);
      const others = children.filter(({ command }) => !/examples/.test(command));
      const shared = new Set<string>();
      const seen = await Promise.all(others.map(({ pid }) => findInMemory(pid, ALL, shared)));
      for (const { leave } of runs) leave();
      expect(others.length).toBeGreaterThan(4);
      const looked = seen.filter((found) => found !== undefined);
      if (looked.length < others.length - 2) skip('this machine does not let us look into memory');
      for (const key of CREATORS) expect(looked.filter((found) => found.has(key))).toEqual([]);
      // Each input is in one sandbox, and in no other: so the search does find the inputs.
      for (const input of [CANARIES.firstInput, CANARIES.secondInput]) {
        expect(looked.filter((found) => found.has(input))).toEqual([new Set([input])]);
      }
      expect(arrived).toContain(CANARIES.modelKey);
      expect(arrived).toContain(CANARIES.systemPrompt);
    },
  );

  test(
    'are in no answer, log, metric or file, and in the database only sealed [EXE-44]',
    { timeout: 120_000 },
    async () => {
      // Its answer is the renter's own; nothing else may be in it.
      const answers = await Promise.all([
        begin(first, declarative, slowTask(0, CANARIES.output), CANARIES.firstInput).answer,
        begin(first, connected, slowTask(0, 'three'), CANARIES.firstInput, '/v1/execute/stream').answer,
        // Model and agent that repeat the request in an error.
        begin(second, declarative, '<refuse>', CANARIES.secondInput).answer,
        begin(second, connected, '<refuse>', CANARIES.secondInput, '/v1/execute/stream').answer,
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 503, 200]);
      expect(answers.map((answer) => canariesIn(told(answer)))).toEqual([[CANARIES.output], [], [], []]);
      expect(arrived).toContain(CANARIES.endpoint);

      const looks = await Promise.all(
        [
          '/metrics',
          '/health',
          '/openapi.json',
          `/v1/listings/${declarative}`,
          `/v1/listings/${connected}`,
          '/v1/runs',
        ].map((path) => call(market.server, 'GET', path, second).catch(() => undefined)),
      );
      expect(canariesIn(JSON.stringify(looks))).toEqual([]);
      expect(canariesIn(await (await fetch(`${market.server.dev.base_url}/metrics`)).text())).toEqual([]);
      expect(canariesIn(market.server.output())).toEqual([]);

      const { rows: tables } = await market.database.query<{ name: string }>(
        `select format('%I.%I', schemaname, tablename) as name from pg_tables
          where schemaname not in ('pg_catalog', 'information_schema')`,
      );
      expect(tables.length).toBeGreaterThan(20);
      for (const { name } of tables) {
        const { rows } = await market.database.query(`select t::text as row from ${name} as t`);
        expect({ name, found: canariesIn(JSON.stringify(rows)) }).toEqual({ name, found: [] });
      }

      // The database's own files, its log of changes included, the chain's journal, the server's log.
      await market.database.query('checkpoint').catch(() => undefined);
      const files = await allFiles(market.server.stateDir);
      expect(files.length).toBeGreaterThan(100);
      const needles = ALL.flatMap((each) => [Buffer.from(each), Buffer.from(each, 'utf16le')]);
      const holding: string[] = [];
      for (const file of files) {
        const bytes = await readFile(file).catch(() => Buffer.alloc(0));
        if (needles.some((needle) => bytes.includes(needle))) holding.push(file);
      }
      expect(holding).toEqual([]);
    },
  );
});

async function allFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
