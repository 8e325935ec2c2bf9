import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openCuttingProxy } from '@agent-rental/stand-in';
import { beforeAll, describe, inject, test, type ExpectStatic, type TestContext } from 'vitest';
import { OFFICIAL_CLIENTS, type Place, type Seen } from './mcp-clients/official-clients.js';
import { pythonInFullForm, runPython } from '../support/toolchains/python-environment.js';
import { IS_QUICK } from '../support/form.js';
import { PRICE, publishProgram, rentAgent } from '../support/agents/agents.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const BIN = fileURLToPath(new URL('bin.js', import.meta.resolve('@agent-rental/mcp-server')));
const REQUIREMENTS = fileURLToPath(new URL('mcp-clients/python-requirements.txt', import.meta.url));
const SCRIPT = fileURLToPath(new URL('mcp-clients/scenario.py', import.meta.url));
/** Words of the agent's description. Other tests have such agents too; the newest come first. */
const QUERY = 'does the work of a test';
const PROGRAM = `
await new Promise((resolve) => setTimeout(resolve, input?.wait_ms ?? 0));
return { task };
`;

const environment = await pythonInFullForm(REQUIREMENTS);
const python = 'python' in environment ? environment.python : '';

let marketplace: Marketplace;
let agentId: string;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  agentId = await publishProgram(marketplace, await newParticipant(marketplace), PROGRAM);
}, 120_000);

/** The stdio server of a wallet that has rented nothing, which may spend within limits. */
async function newAgentServer({
  onTestFinished,
}: TestContext): Promise<{ place: Place & { env: object }; party: Participant }> {
  const party = await newParticipant(marketplace);
  const folder = await mkdtemp(join(tmpdir(), 'agent rental client '));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'wallet.json');
  await writeFile(path, JSON.stringify([...party.wallet.secretKey]), { mode: 0o600 });
  const env = {
    AGENT_RENTAL_URL: marketplace.dev.base_url,
    AGENT_RENTAL_WALLET: path,
    AGENT_RENTAL_MAX_DAY_SOL: '0.05',
    AGENT_RENTAL_SPENDING_DIR: join(folder, 'spending'),
    AGENT_RENTAL_WAIT_SECONDS: '5',
  };
  return { place: { command: process.execPath, args: [BIN], env }, party };
}

const textOf = (seen: Seen) => seen.content[0]?.text ?? '';
const runIdOf = (seen: Seen) => seen['_meta']?.['agent-rental/run']?.run_id ?? '';
const spent = async (party: Participant) =>
  (await party.client.listRuns({ limit: 100 })).runs.reduce((sum, run) => sum + run.cost_lamports, 0);

/** The results that every client must report, in each language. */
function expectAsTold(seen: Record<string, unknown>, expect: ExpectStatic): void {
  expect(seen['found']).toContain(agentId);
  expect(seen['rented']).toMatchObject({ agent_id: agentId, rented: true });
  expect(seen['ran']).toEqual({ task: 'first' });
  expect(seen['long']).toMatch(/is still running/);
  expect(seen['cancelled']).toMatch(/was stopped/);
  expect(seen['slow']).toMatch(/is still running/);
  expect(seen['result']).toBe('{"task":"slow"}');
}

// Each waits for runs of seconds with separate wallets: together they take as long as the longest.
describe.skipIf(IS_QUICK).concurrent.each(Object.keys(OFFICIAL_CLIENTS))('%s', (name) => {
  test('searches, rents, runs, cancels and gets a late result, with no look at the list [ADP-1]', async (context) => {
    const { expect, onTestFinished } = context;
    const { place, party } = await newAgentServer(context);
    const client = await OFFICIAL_CLIENTS[name]!(place);
    onTestFinished(client.close);
    const agent = { agent_id: agentId };
    const found = await client.call('search_listings', { query: QUERY, sort: 'newest', limit: 25 });
    const rented = await client.call('rent_listing', { ...agent, deposit_lamports: 10 * PRICE });
    const ran = await client.call('run_agent', { ...agent, task: 'first', input: { wait_ms: 0 } });
    const long = await client.call('run_agent', { ...agent, task: 'long', input: { wait_ms: 20_000 } });
    const cancelled = await client.call('cancel_run', { run_id: runIdOf(long) });
    // The run outlives the client's timeout: the client is told in time, and the run is charged once.
    const slow = await client.call(
      'run_agent',
      { ...agent, task: 'slow', input: { wait_ms: 12_000 } },
      10_000,
    );
    let result: Seen;
    // Each waits as long as a call that runs an agent.
    do result = await client.call('get_run', { run_id: runIdOf(slow) });
    while (textOf(result).includes('is still running'));
    expectAsTold(
      {
        found: textOf(found),
        rented: rented.structuredContent,
        ran: ran.structuredContent?.['output'],
        long: textOf(long),
        cancelled: textOf(cancelled),
        slow: textOf(slow),
        result: textOf(result),
      },
      expect,
    );
    expect(await spent(party)).toBe(3 * PRICE);
  }, 120_000);

  test('gets its answer through a proxy that cuts every stream, and pays once a call [ADP-9]', async ({
    expect,
    onTestFinished,
  }) => {
    const party = await newParticipant(marketplace);
    await rentAgent(party, agentId, 10);
    const proxy = await openCuttingProxy(marketplace.dev.base_url, ({ body }) =>
      body.includes('"tools/call"') ? (body.includes('"twice"') ? 'end' : 'begin') : undefined,
    );
    onTestFinished(proxy.close);
    const client = await OFFICIAL_CLIENTS[name]!({ url: `${proxy.baseUrl}/mcp`, token: party.token });
    onTestFinished(client.close);
    const run = (task: string, more = {}) => client.call('run_agent', { agent_id: agentId, task, ...more });
    expect((await run('once')).structuredContent?.['output']).toEqual({ task: 'once' });
    expect(await spent(party)).toBe(PRICE);
    const two = [await run('twice'), await run('twice', { new_run: true })];
    expect(two.map((seen) => seen.structuredContent?.['output'])).toEqual([
      { task: 'twice' },
      { task: 'twice' },
    ]);
    expect(new Set(two.map(runIdOf)).size).toBe(2);
    expect(await spent(party)).toBe(3 * PRICE);
    expect(proxy.cuts).toBe(3);
  }, 120_000);
});

describe.skipIf(IS_QUICK)('a client that resumes nothing and tries again at once', () => {
  /** One POST, as long as it takes; undefined when its answer breaks off. */
  async function tryOnce(
    url: string,
    token: string,
    task: string,
    wait_ms: number,
  ): Promise<Seen | undefined> {
    const params = {
      name: 'run_agent',
      arguments: { agent_id: agentId, task, input: { wait_ms } },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'by-hand', version: '1.0.0' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    };
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'run_agent',
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    try {
      const answer = await fetch(url, { method: 'POST', headers, body });
      const lines = (await answer.text()).split('\n').filter((line) => line.startsWith('data: {'));
      const last = lines.at(-1)?.slice('data: '.length);
      return last === undefined ? undefined : (JSON.parse(last) as { result: Seen }).result;
    } catch {
      return undefined;
    }
  }

  test('gets its answers, and pays once a call, however early its streams are cut [ADP-9, RUN-24]', async ({
    expect,
    onTestFinished,
  }) => {
    const party = await newParticipant(marketplace);
    await rentAgent(party, agentId, 20);
    const cut = new Set<string>();
    const proxy = await openCuttingProxy(marketplace.dev.base_url, ({ body }) => {
      const task = /"task":"(.*?)"/.exec(body)?.[1] ?? '';
      if (cut.has(task)) return undefined;
      cut.add(task);
      return 'begin';
    });
    onTestFinished(proxy.close);
    const url = `${proxy.baseUrl}/mcp`;
    const waits = [0, 100, 500, 2_000];
    const tasks = waits.map((wait_ms) => ({ task: `again after ${wait_ms}`, wait_ms }));
    for (const { task, wait_ms } of tasks) {
      expect(await tryOnce(url, party.token, task, wait_ms)).toBeUndefined();
      const again = await tryOnce(url, party.token, task, wait_ms);
      expect(again?.structuredContent?.['output']).toEqual({ task });
    }
    expect(proxy.cuts).toBe(tasks.length);
    expect(await spent(party)).toBe(tasks.length * PRICE);
  }, 120_000);

  test('and two equal calls at the same moment are one run, and the second says so [RUN-24]', async ({
    expect,
  }) => {
    const party = await newParticipant(marketplace);
    await rentAgent(party, agentId, 10);
    const url = marketplace.dev.mcp_url;
    const two = await Promise.all([0, 1].map(() => tryOnce(url, party.token, 'both', 4_000)));
    expect(two.map((seen) => seen?.structuredContent?.['output'])).toEqual([
      { task: 'both' },
      { task: 'both' },
    ]);
    expect(two.filter((seen) => JSON.stringify(seen).includes('An equal call started it'))).toHaveLength(1);
    expect(await spent(party)).toBe(PRICE);
  }, 120_000);
});

describe.runIf(!IS_QUICK && python !== '')('Python', { concurrent: true }, () => {
  const clients = [
    ['mcp', 'rents'],
    ['langchain-mcp-adapters', 'langchain'],
  ] as const;
  test.for(clients)(
    '%s searches, rents, runs, cancels and gets a late result [ADP-1]',
    { timeout: 120_000 },
    async ([, part], context) => {
      const { expect } = context;
      const { place, party } = await newAgentServer(context);
      const job = { ...place, part, agent_id: agentId, query: QUERY };
      // The least deposit pays for one run at a time; a person would rent with more.
      const rented = await OFFICIAL_CLIENTS['the official SDK v1']!(place);
      await rented.call('rent_listing', { agent_id: agentId, deposit_lamports: 10 * PRICE });
      await rented.close();
      expectAsTold((await runPython(python, SCRIPT, job)) as Record<string, unknown>, expect);
      expect(await spent(party)).toBe(3 * PRICE);
    },
  );

  test('mcp gets its answer through a proxy that cuts every stream, and two equal calls pay once [ADP-9, RUN-24]', async ({
    expect,
    onTestFinished,
  }) => {
    const party = await newParticipant(marketplace);
    await rentAgent(party, agentId, 10);
    const proxy = await openCuttingProxy(marketplace.dev.base_url, ({ body }) =>
      body.includes('"tools/call"') ? 'begin' : undefined,
    );
    onTestFinished(proxy.close);
    const seen = (await runPython(python, SCRIPT, {
      url: `${proxy.baseUrl}/mcp`,
      token: party.token,
      part: 'calls',
      times: 2,
      tool: 'run_agent',
      arguments: { agent_id: agentId, task: 'twice' },
    })) as { outputs: { texts: string[]; run: string }[] };
    expect(seen.outputs.map(({ texts }) => texts[0])).toEqual(['{"task":"twice"}', '{"task":"twice"}']);
    expect(new Set(seen.outputs.map(({ run }) => run)).size).toBe(1);
    expect(await spent(party)).toBe(PRICE);
    expect(proxy.cuts).toBe(2);
  }, 120_000);
});
