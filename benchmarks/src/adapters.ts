import type { JsonObject } from '@agent-rental/contract';
import { createClient } from '@agent-rental/sdk';
import { rentedToolset } from '@agent-rental/tools';
import { slowAnswer, slowTask } from '@agent-rental/test/support/agents/slow-agents';
import { Tiktoken } from 'js-tiktoken/lite';
import o200kBase from 'js-tiktoken/ranks/o200k_base';
import { aiSdk } from './adapters/ai-sdk.js';
import { bareGet, bareRentals } from './adapters/bare-rentals.js';
import { openCalls, type Call, type Calls } from './adapters/calls.js';
import { langchain } from './adapters/langchain.js';
import type { Framework, GivenTool } from './adapters/framework.js';
import { startMcpProcess } from './adapters/mcp.js';
import {
  startRentedMarketplace,
  type Caller,
  type RentedMarketplace,
} from './adapters/rented-marketplace.js';
import { median, percentile, Sheet, type Suite } from './report.js';
import { byTurns, ownCpuMs, ratioOf, type Leg } from './harness/turns.js';

const RENTALS = [1, 30, 300] as const;
/** The rentals for the measurement of `/v1/tools`. */
const MANY_RENTALS = 1_000;
const PAGE = 100;
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 41);
/** Enough rounds for the engine to compile the measured code. */
const WARM_UP_ROUNDS = 10;
/** The largest ratio of a list's or a call's time to the floor's. */
const LIMIT_TIMES = 1.3;
const LIMIT_BYTES = 1_000;

async function measureAdapters(sheet: Sheet): Promise<Sheet> {
  // The AI SDK logs warnings about mock models.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const stops: (() => Promise<void>)[] = [];
  try {
    sheet.progress('Starting the marketplace');
    const marketplace = await startRentedMarketplace([...RENTALS, MANY_RENTALS]);
    stops.push(() => marketplace.stop());
    const all = await frameworks(marketplace, stops);
    for (const framework of all) {
      for (const rentals of RENTALS) await measureLists(framework, marketplace, { rentals }, sheet);
    }
    await measureLists(toolsOfApi, marketplace, { rentals: MANY_RENTALS }, sheet);
    // A process compiles schemas at its first list, and after a change of all listings.
    for (const framework of all.filter(({ isBuiltHere }) => isBuiltHere))
      await measureLists(framework, marketplace, { rentals: RENTALS[2], areNew: true }, sheet);
    const calls = await openCalls(marketplace);
    stops.push(() => calls.close());
    await measureCalls(calls, sheet);
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
  sheet.setting = { rounds: ROUNDS, tokens: 'o200k_base' };
  return sheet;
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
  // Both sides serve exactly the same tools, so that only the service differs.
  const all = (await ours.list(caller, MANY_RENTALS)) as unknown as GivenTool[];
  const given = { fixed: all.slice(0, alwaysThere.length), rented: all.slice(alwaysThere.length) };
  const floor = await startMcpProcess({ baseUrl, given });
  stops.push(() => floor.stop());
  const processes = { ours, floor };
  const mcp: Framework = {
    name: 'MCP',
    isBuiltHere: false,
    ours: ours.list,
    floor: floor.list,
    cpuMs: async (side) => (await ownCpuMs()) + (await processes[side].cpuMs()),
  };
  return [langchain(alwaysThere), aiSdk(alwaysThere), mcp];
}

/** `/v1/tools` against the bare list of the same rentals from the same server. */
const toolsOfApi: Framework = {
  name: '/v1/tools',
  isBuiltHere: false,
  async ours({ baseUrl, token }, rentals) {
    const offsets = Array.from({ length: Math.ceil(rentals / PAGE) }, (_, page) => page * PAGE);
    const pages = await Promise.all(
      offsets.map((offset) => bareGet(baseUrl, token, `/v1/tools?limit=${PAGE}&offset=${offset}`)),
    );
    return pages.flatMap((page) => (page as { tools: JsonObject[] }).tools);
  },
  floor: async (caller, rentals) =>
    (await bareRentals(caller, rentals, '&include=listing')) as unknown as JsonObject[],
};

function callerOf({ renters }: RentedMarketplace, rentals: number): Caller {
  const caller = renters.get(rentals);
  if (caller === undefined) throw new Error(`No seeded client has rented ${rentals} agents.`);
  return caller;
}

async function measureLists(
  { name, ours, floor, cpuMs = ownCpuMs }: Framework,
  marketplace: RentedMarketplace,
  { rentals, areNew = false }: { rentals: number; areNew?: boolean },
  sheet: Sheet,
): Promise<void> {
  const what = `${name}, ${rentals} ${areNew ? 'new listings' : 'rentals'}`;
  const caller = callerOf(marketplace, rentals);
  const [tools, bareTools] = await Promise.all([ours(caller, rentals), floor(caller, rentals)]);
  if (tools.length !== bareTools.length || tools.length < rentals)
    throw new Error(
      `${name} has ${tools.length} tools for ${rentals} rentals, the floor ${bareTools.length}.`,
    );
  const measured = await byTurns(
    { run: () => ours(caller, rentals), cpuMs: () => cpuMs('ours') },
    { run: () => floor(caller, rentals), cpuMs: () => cpuMs('floor') },
    { rounds: ROUNDS, warmUps: WARM_UP_ROUNDS, ...(areNew ? { before: marketplace.revise } : {}) },
  );
  const size = sizeOf(tools.slice(-rentals));
  const row = rowOf(what, measured);
  sheet.add({
    ...row,
    cpu_ms: median(measured.ours.cpuMs),
    floor_cpu_ms: median(measured.baseline.cpuMs),
    bytes_per_tool: size.bytes,
    tokens_per_tool: size.tokens,
    floor_bytes_per_tool: sizeOf(bareTools.slice(-rentals)).bytes,
  });
  sheet.atMost(`${what}, time over the floor's`, row.ratio, LIMIT_TIMES, 'times');
  if (rentals > 1) sheet.atMost(`${what}, size of a tool`, size.bytes, LIMIT_BYTES, 'bytes');
}

const tokenizer = new Tiktoken(o200kBase);

/** The average size of a tool in a request. */
function sizeOf(tools: readonly JsonObject[]): { bytes: number; tokens: number } {
  const texts = tools.map((tool) => JSON.stringify(tool));
  const sum = (count: (text: string) => number) =>
    texts.reduce((total, text) => total + count(text), 0) / texts.length;
  return {
    bytes: sum((text) => Buffer.byteLength(text)),
    tokens: sum((text) => tokenizer.encode(text).length),
  };
}

/** Measures a call in each framework against the framework's own tool over `fetch`, and against `fetch` alone. */
async function measureCalls(calls: Calls, sheet: Sheet): Promise<void> {
  let tasks = 0;
  const leg = (call: Call): Leg => ({
    async run() {
      tasks += 1;
      const text = await call(slowTask(0, `task ${tasks}`));
      if (!text.startsWith(slowAnswer(`task ${tasks}`))) throw new Error(`Task ${tasks} returned ${text}.`);
    },
  });
  const rounds = { rounds: 3 * ROUNDS, warmUps: WARM_UP_ROUNDS };
  for (const [name, { ours, floor }] of Object.entries(calls.frameworks)) {
    const row = rowOf(`a call, ${name}`, await byTurns(leg(ours), leg(floor), rounds));
    sheet.add(row);
    sheet.add(rowOf(`a call, ${name}, over fetch`, await byTurns(leg(ours), leg(calls.fetch), rounds)));
    sheet.atMost(`a call, ${name}, time over the floor's`, row.ratio, LIMIT_TIMES, 'times');
  }
}

function rowOf(what: string, { ours, baseline }: Awaited<ReturnType<typeof byTurns>>) {
  return {
    what,
    p50_ms: median(ours.ms),
    p95_ms: percentile(ours.ms, 95),
    floor_p50_ms: median(baseline.ms),
    floor_p95_ms: percentile(baseline.ms, 95),
    ratio: ratioOf(ours.ms, baseline.ms),
  };
}

/** The costs of the adapters compared with their frameworks. */
export const suite: Suite = {
  name: 'adapters',
  summary: 'rented tools, built, listed and called, against the bare SDKs and fetch',
  run: (progress) => measureAdapters(new Sheet(progress)),
};
