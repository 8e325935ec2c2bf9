import type { JsonObject } from '@agent-rental/contract';
import { createClient } from '@agent-rental/sdk';
import { rentedToolset } from '@agent-rental/tools';
import { Tiktoken } from 'js-tiktoken/lite';
import o200kBase from 'js-tiktoken/ranks/o200k_base';
import { aiSdk } from './adapters/ai-sdk.js';
import { bareGet, bareRentals } from './adapters/bare-rentals.js';
import { openCalls, type Call, type Calls } from './adapters/calls.js';
import { langchain } from './adapters/langchain.js';
import { ownCpuMs, type Framework, type GivenTool, type Leg } from './adapters/leg.js';
import { startMcpProcess } from './adapters/mcp.js';
import {
  startRentedMarketplace,
  type Caller,
  type RentedMarketplace,
} from './adapters/rented-marketplace.js';
import { measurePairs, ratioOf, type Pairs } from './adapters/pairs.js';
import {
  atMost,
  median,
  percentile,
  round,
  type Findings,
  type Row,
  type Suite,
  type Target,
} from './report.js';

const RENTALS = [1, 30, 300] as const;
/** What `/v1/tools` is asked for. */
const MANY_RENTALS = 1_000;
const PAGE = 100;
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 41);
/** Before that the engine has not compiled what is measured. */
const WARM_UP_ROUNDS = 10;
/** How much more than the floor a list or a call may take. */
const LIMIT_TIMES = 1.3;
const LIMIT_BYTES = 1_000;

interface Sheet {
  readonly rows: Row[];
  readonly targets: Target[];
  progress(line: string): void;
}

async function run(progress: (line: string) => void): Promise<Findings> {
  // The AI SDK has much to say about models that are none.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const stops: (() => Promise<void>)[] = [];
  const sheet: Sheet = { rows: [], targets: [], progress };
  try {
    progress('Starting the marketplace');
    const marketplace = await startRentedMarketplace([...RENTALS, MANY_RENTALS]);
    stops.push(() => marketplace.stop());
    const all = await frameworks(marketplace, stops);
    for (const framework of all) {
      for (const rentals of RENTALS) await measureLists(framework, marketplace, { rentals }, sheet);
    }
    await measureLists(toolsOfApi(), marketplace, { rentals: MANY_RENTALS }, sheet);
    // A process that lists for the first time, or after all its listings have changed, has schemas to compile.
    for (const framework of all.filter(({ isBuiltHere }) => isBuiltHere))
      await measureLists(framework, marketplace, { rentals: RENTALS[2], areNew: true }, sheet);
    const calls = await openCalls(marketplace);
    stops.push(() => calls.close());
    await measureCalls(calls, sheet);
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
  const { rows, targets } = sheet;
  return { setting: { rounds: ROUNDS, tokens: 'o200k_base' }, rows, targets };
}

async function frameworks(
  marketplace: RentedMarketplace,
  stops: (() => Promise<void>)[],
): Promise<Framework[]> {
  const caller = callerOf(marketplace, MANY_RENTALS);
  const { baseUrl, token } = caller;
  const { alwaysThere } = rentedToolset(createClient({ baseUrl, apiKey: token }));
  const ours = await startMcpProcess({ baseUrl });
  stops.push(() => ours.stop());
  // The same tools to the word: what is compared is what it takes to serve them.
  const all = (await ours.list(caller, MANY_RENTALS)) as unknown as GivenTool[];
  const given = { fixed: all.slice(0, alwaysThere.length), rented: all.slice(alwaysThere.length) };
  const floor = await startMcpProcess({ baseUrl, given });
  stops.push(() => floor.stop());
  return [langchain(alwaysThere), aiSdk(alwaysThere), { name: 'MCP', isBuiltHere: false, ours, floor }];
}

/** `/v1/tools`, against the bare list of the same rentals from the same server. */
function toolsOfApi(): Framework {
  const list: Leg['list'] = async ({ baseUrl, token }, rentals) => {
    const offsets = Array.from({ length: Math.ceil(rentals / PAGE) }, (_, page) => page * PAGE);
    const pages = await Promise.all(
      offsets.map((offset) => bareGet(baseUrl, token, `/v1/tools?limit=${PAGE}&offset=${offset}`)),
    );
    return pages.flatMap((page) => (page as { tools: JsonObject[] }).tools);
  };
  return {
    name: '/v1/tools',
    isBuiltHere: false,
    ours: { list, cpuMs: ownCpuMs },
    floor: {
      list: async (caller, rentals) =>
        (await bareRentals(caller, rentals, '&include=listing')) as unknown as JsonObject[],
      cpuMs: ownCpuMs,
    },
  };
}

function callerOf({ renters }: RentedMarketplace, rentals: number): Caller {
  const caller = renters.get(rentals);
  if (caller === undefined) throw new Error(`No seeded client has rented ${rentals} agents.`);
  return caller;
}

async function measureLists(
  { name, ours, floor }: Framework,
  marketplace: RentedMarketplace,
  { rentals, areNew = false }: { rentals: number; areNew?: boolean },
  { rows, targets, progress }: Sheet,
): Promise<void> {
  const what = `${name}, ${rentals} ${areNew ? 'new listings' : 'rentals'}`;
  progress(what);
  const caller = callerOf(marketplace, rentals);
  const lists = await Promise.all([ours, floor].map((leg) => leg.list(caller, rentals)));
  const [tools = [], bareTools = []] = lists;
  if (tools.length !== bareTools.length || tools.length < rentals)
    throw new Error(`${name} gave ${tools.length} tools for ${rentals}, the floor ${bareTools.length}.`);
  const pairs = await measurePairs(
    { run: () => ours.list(caller, rentals), cpuMs: ours.cpuMs },
    { run: () => floor.list(caller, rentals), cpuMs: floor.cpuMs },
    { rounds: ROUNDS, warmUpRounds: WARM_UP_ROUNDS, ...(areNew ? { before: marketplace.revise } : {}) },
  );
  const size = sizeOf(tools.slice(-rentals));
  rows.push({
    what,
    ...timesOf(pairs),
    cpu_ms: round(median(pairs.ours.cpuMs)),
    floor_cpu_ms: round(median(pairs.floor.cpuMs)),
    bytes_per_tool: round(size.bytes),
    tokens_per_tool: round(size.tokens),
    floor_bytes_per_tool: round(sizeOf(bareTools.slice(-rentals)).bytes),
  });
  targets.push(atMost(`${what}, time over the floor's`, ratioOf(pairs), LIMIT_TIMES, 'times'));
  if (rentals > 1) targets.push(atMost(`${what}, size of a tool`, size.bytes, LIMIT_BYTES, 'bytes'));
}

const tokenizer = new Tiktoken(o200kBase);

/** What a tool takes in a request, on average. */
function sizeOf(tools: readonly JsonObject[]): { bytes: number; tokens: number } {
  const texts = tools.map((tool) => JSON.stringify(tool));
  const sum = (count: (text: string) => number) =>
    texts.reduce((total, text) => total + count(text), 0) / texts.length;
  return {
    bytes: sum((text) => Buffer.byteLength(text)),
    tokens: sum((text) => tokenizer.encode(text).length),
  };
}

/** A call in each framework, over the framework's own with a tool over `fetch`; and over `fetch` alone. */
async function measureCalls(calls: Calls, { rows, targets, progress }: Sheet): Promise<void> {
  let tasks = 0;
  const measured = (call: Call) => ({
    cpuMs: ownCpuMs,
    async run() {
      tasks += 1;
      const text = await call(`wait 0 ms for <task ${tasks}>`);
      if (!text.startsWith(`done with task ${tasks}`)) throw new Error(`Task ${tasks} gave ${text}.`);
    },
  });
  for (const [name, { ours, floor }] of Object.entries(calls.frameworks)) {
    progress(`A call, ${name}`);
    const rounds = { rounds: 3 * ROUNDS, warmUpRounds: WARM_UP_ROUNDS };
    const pairs = await measurePairs(measured(ours), measured(floor), rounds);
    const overFetch = await measurePairs(measured(ours), measured(calls.fetch), rounds);
    rows.push(
      { what: `a call, ${name}`, ...timesOf(pairs) },
      { what: `a call, ${name}, over fetch`, ...timesOf(overFetch) },
    );
    targets.push(atMost(`a call, ${name}, time over the floor's`, ratioOf(pairs), LIMIT_TIMES, 'times'));
  }
}

function timesOf(pairs: Pairs) {
  const { ours, floor } = pairs;
  return {
    p50_ms: round(median(ours.ms)),
    p95_ms: round(percentile(ours.ms, 95)),
    floor_p50_ms: round(median(floor.ms)),
    floor_p95_ms: round(percentile(floor.ms, 95)),
    ratio: round(ratioOf(pairs)),
  };
}

/** What the adapters cost beside the frameworks that they adapt to. */
export const suite: Suite = {
  name: 'adapters',
  summary: 'rented tools, built, listed and called, against the bare SDKs and fetch',
  run,
};
