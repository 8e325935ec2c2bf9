import { describe, expect, it } from 'vitest';
import { DirectToolCache } from './definitions/direct-tool-cache.js';
import { createStandIn, type StandInListing } from '@agent-rental/stand-in';
import { toolName } from './definitions/tool-name.js';
import type { ToolSelection } from './definitions/tool-selection.js';
import { clientOf } from './testing/tools-of.js';
import { rentedToolset } from './toolset.js';

const FIXED = [
  'search_listings',
  'get_listing',
  'rent_listing',
  'hire',
  'list_rentals',
  'run_agent',
  'get_run',
  'cancel_run',
];

const listing = (index: number, more: Partial<StandInListing> = {}): StandInListing => ({
  id: `agent-${index}-aaaaaa`,
  title: `Agent ${index}`,
  purchased_at: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString(),
  ...more,
});

const listings = (length: number) => Array.from({ length }, (_, index) => listing(index));

describe('rentedToolset', () => {
  it('lists the fixed tools, then the thirty most recent rentals, whether they can pay or not', async () => {
    const rented = Array.from({ length: 40 }, (_, index) =>
      listing(index, index % 2 === 0 ? {} : { rental: 'low_balance' }),
    );
    const standIn = createStandIn([...rented, listing(90, { rental: 'none' })]);
    const names = (await rentedToolset(clientOf(standIn)).list()).map((tool) => tool.name);
    expect(names.slice(0, FIXED.length)).toEqual(FIXED);
    expect(names.slice(FIXED.length)).toEqual(
      Array.from({ length: 30 }, (_, index) => `agent_${39 - index}_aaaaaa`),
    );
  });

  it('warns of a failing agent in searches, listings and tools [REG-142]', async () => {
    const standIn = createStandIn([listing(1, { failing_since: '2026-01-05T10:00:00.000Z' }), listing(2)]);
    const tools = await rentedToolset(clientOf(standIn)).list();
    const named = (name: string) => tools.find((tool) => tool.name === name);
    const said = expect.stringContaining('have failed since 2026-01-05') as string;
    const shown = await named('get_listing')?.invoke({ agent_id: 'agent-1-aaaaaa' });
    expect(shown?.structured).toMatchObject({ health: said });
    const found = await named('search_listings')?.invoke({});
    expect(found?.structured).toMatchObject({ listings: [{ health: said }, {}] });
    expect(found?.structured).not.toHaveProperty('listings[1].health');
    expect(named('agent_1_aaaaaa')?.description).toContain('have failed since 2026-01-05');
    expect(named('agent_2_aaaaaa')?.description).not.toContain('have failed');
  });

  it('tells of a free first run, and makes it without a rental, once [EXE-100]', async () => {
    const standIn = createStandIn([listing(1, { rental: 'none', free_trial: true }), listing(2)]);
    const tools = await rentedToolset(clientOf(standIn)).list();
    const call = (name: string, args: object) => tools.find((tool) => tool.name === name)?.invoke(args);
    const said = expect.stringContaining('First run free') as string;
    const [shown, found] = [
      await call('get_listing', { agent_id: 'agent-1-aaaaaa' }),
      await call('search_listings', {}),
    ];
    expect(shown?.structured).toMatchObject({ free_trial: said });
    expect(found?.structured).toMatchObject({ listings: [{ free_trial: said }, {}] });
    expect(tools.find(({ name }) => name === 'run_agent')?.description).toContain('free and needs no rental');
    const task = { agent_id: 'agent-1-aaaaaa', task: 'Echo.', input: { text: 'x' } };
    expect(await call('run_agent', task)).toMatchObject({ status: 'completed', costLamports: 0 });
    expect(standIn.charged).toBe(0);
    const again = await call('run_agent', { ...task, task: 'Echo again.' });
    expect(again).toMatchObject({ status: 'error', error: { code: 'credential_not_found' } });
  });

  it.each([
    ['renters', 'First run free for renters'],
    [false, undefined],
  ] as const)('promises no free first run to those who cannot have it: %s', async (free_trial, said) => {
    const standIn = createStandIn([listing(1, { rental: 'none', free_trial })]);
    const tools = await rentedToolset(clientOf(standIn)).list();
    const shown = await tools
      .find(({ name }) => name === 'get_listing')
      ?.invoke({ agent_id: 'agent-1-aaaaaa' });
    const told = (shown?.structured as { free_trial?: string } | undefined)?.free_trial;
    expect(told?.slice(0, said?.length)).toBe(said);
  });

  it('describes a rental in any script, and so that every provider takes it', async () => {
    const standIn = createStandIn([
      listing(1, { input_schema: { $ref: 'https://evil.example/schema' } }),
      listing(2, { title: 'قارئ الفواتير', rental_model: 'one_time' }),
    ]);
    const [arabic, tool] = (await rentedToolset(clientOf(standIn)).list()).slice(FIXED.length);
    expect(arabic?.title).toBe('Rented agent: قارئ الفواتير');
    expect(arabic?.description).toContain('Calls cost nothing beyond the rental.');
    expect(tool?.inputSchema).toMatchObject({
      type: 'object',
      properties: {
        agent_id: { type: 'string', enum: ['agent-1-aaaaaa'] },
        input: { anyOf: [{ anyOf: [{ type: 'object' }] }, { type: 'string' }] },
      },
      required: ['agent_id', 'task'],
    });
  });

  it('takes less than a kilobyte per ordinary tool', async () => {
    const tools = await rentedToolset(clientOf(createStandIn([listing(1)]))).list();
    const { name, title, description, inputSchema, annotations } = tools.at(-1)!;
    expect(JSON.stringify({ name, title, description, inputSchema, annotations }).length).toBeLessThan(1_024);
  });

  it('lists the chosen rentals, all of them, or none', async () => {
    const standIn = createStandIn(listings(40));
    const selected = async (select: ToolSelection) =>
      (await rentedToolset(clientOf(standIn), { select }).list()).slice(FIXED.length).map(({ name }) => name);
    expect(await selected('all')).toHaveLength(40);
    expect(await selected('none')).toEqual([]);
    const ids = ['agent-3-aaaaaa', 'agent-99-aaaaaa', 'agent-1-aaaaaa'];
    expect(await selected(ids)).toEqual(['agent_3_aaaaaa', 'agent_1_aaaaaa']);
  });

  it('tells of rentals without a direct tool, by their words', async () => {
    const rented = listings(130);
    const standIn = createStandIn([
      ...rented,
      listing(500, { title: 'Tax\u202e reader', rental: 'expired' }),
    ]);
    const tools = await rentedToolset(clientOf(standIn)).list();
    const rentals = tools.find(({ name }) => name === 'list_rentals');
    const first = await rentals?.invoke({});
    expect(first?.structured).toMatchObject({ total: 131, next_offset: 20 });
    const found = await rentals?.invoke({ query: 'tax' });
    expect(found?.structured).toEqual({
      rentals: [
        {
          agent_id: 'agent-500-aaaaaa',
          tool: 'agent_500_aaaaaa',
          title: 'Tax reader',
          rental_model: 'per_query',
          status: 'expired',
        },
      ],
      total: 1,
    });
  });

  it('finds a rental made after the list, and a rental without balance', async () => {
    const standIn = createStandIn([listing(1, { rental: 'low_balance' })]);
    const toolset = rentedToolset(clientOf(standIn));
    expect(await toolset.list()).toHaveLength(FIXED.length + 1);
    standIn.add(listing(2));
    expect((await toolset.find('agent_2_aaaaaa'))?.agentId).toBe('agent-2-aaaaaa');
    const empty = await toolset.find('agent_1_aaaaaa');
    expect(await empty?.invoke({ task: 't' })).toMatchObject({
      status: 'error',
      error: { code: 'insufficient_balance' },
    });
    expect(await toolset.find('agent_3_aaaaaa')).toBeUndefined();
    expect((await toolset.refresh()).map((tool) => tool.name)).toContain('agent_2_aaaaaa');
  });

  it('finds a tool by its name alone among many rentals', async () => {
    const rented = listings(250);
    const standIn = createStandIn([...rented, { id: '9-lives-aaaaaa' }, listing(300, { rental: 'none' })]);
    const cache = new DirectToolCache();
    const found = async (name: string) => {
      standIn.requests.length = 0;
      const tool = await rentedToolset(clientOf(standIn), { cache }).find(name);
      return { agentId: tool?.agentId, asked: standIn.requests.map(({ path }) => path) };
    };
    const first = { agentId: 'agent-7-aaaaaa', asked: ['/v1/listings/agent-7-aaaaaa'] };
    expect(await found('agent_7_aaaaaa')).toEqual(first);
    expect(await found('agent_7_aaaaaa')).toEqual({ ...first, asked: [] });
    expect(await found('search_everything')).toMatchObject({ agentId: undefined });
    // A name with a hash has no listing id, so the rentals are searched.
    const hashed = await toolName('9-lives-aaaaaa');
    expect(await found(hashed)).toMatchObject({ agentId: '9-lives-aaaaaa' });
    // The service refuses a call of an unrented agent, with the next step.
    const stranger = await rentedToolset(clientOf(standIn)).find('agent_300_aaaaaa');
    const refused = await stranger?.invoke({ task: 't' });
    expect(refused).toMatchObject({ status: 'error', error: { code: 'credential_not_found' } });
    expect(refused?.text).toContain('rent_listing');
    expect(standIn.charged).toBe(0);
  });

  it('fetches all listings with the list, once for many toolsets, and again when they have aged', async () => {
    const standIn = createStandIn(listings(20));
    let nowMs = 0;
    const cache = new DirectToolCache(() => nowMs);
    const requests = async () => {
      standIn.requests.length = 0;
      const tools = await rentedToolset(clientOf(standIn), { cache }).list();
      expect(tools.at(-1)?.inputSchema).toMatchObject({ properties: { input: { type: 'object' } } });
      return standIn.requests.map(({ path, query }) => `${path} ${query.get('include') ?? 'alone'}`);
    };
    expect(await requests()).toEqual(['/v1/credentials listing']);
    expect(await requests()).toEqual(['/v1/credentials alone']);
    nowMs = 60_001;
    expect(await requests()).toEqual(['/v1/credentials listing']);
  });

  it('describes a listing’s present state, also if another client got an earlier one', async () => {
    const described = async (more: Partial<StandInListing>) => {
      const standIn = createStandIn([listing(1, { description: 'Adds.', ...more })]);
      const tool = (await rentedToolset(clientOf(standIn)).list()).at(-1)!;
      const spending = await tool.spending({});
      const { name, title, description, inputSchema } = tool;
      return JSON.stringify({ name, title, description, inputSchema, spending });
    };
    const changes: Partial<StandInListing>[] = [
      {},
      { id: 'agent-2-aaaaaa' },
      { title: 'Another' },
      { description: 'Subtracts.' },
      { price_lamports: 3_000_000 },
      { rental_model: 'one_time' },
      { input_schema: { type: 'string' } },
    ];
    const seen = [];
    for (const change of changes) seen.push(await described(change));
    expect(new Set(seen).size).toBe(changes.length);
    expect(await described({})).toBe(seen[0]);
  });

  it('gives any page of the list with requests for that page alone', async () => {
    const standIn = createStandIn(listings(250));
    const all = (await rentedToolset(clientOf(standIn), { limit: 240 }).list()).map(({ name }) => name);
    expect(all).toHaveLength(FIXED.length + 240);
    for (const [start, size, requests] of [
      [0, 5, 1],
      [5, 20, 1],
      [0, 50, 1],
      [50, 50, 1],
      [200, 50, 1],
      [7, 150, 2],
      [0, 1_000, 3],
      [246, 10, 1],
      [300, 10, 1],
    ] as const) {
      standIn.requests.length = 0;
      const page = await rentedToolset(clientOf(standIn), { limit: 240 }).page(start, size);
      expect(page.tools.map(({ name }) => name)).toEqual(all.slice(start, start + size));
      expect(page.total).toBe(all.length);
      expect(standIn.requests, `from ${start} on, ${size}`).toHaveLength(requests);
    }
    const none = await rentedToolset(clientOf(standIn), { limit: 0 }).page(0, 50);
    expect(none).toMatchObject({ tools: { length: FIXED.length }, total: FIXED.length });
  });

  it('continues after a page without reading the items before it', async () => {
    const standIn = createStandIn(listings(130));
    const toolset = rentedToolset(clientOf(standIn), { limit: 120 });
    const all = (await toolset.list()).map(({ name }) => name);
    // A page with only fixed tools has no `next`.
    expect((await toolset.page(0, 5)).next).toBeUndefined();
    const names: string[] = [];
    const places: (string | undefined)[] = [];
    let place: string | undefined;
    for (let start = 0; start < all.length; start += 50) {
      standIn.requests.length = 0;
      const page = await toolset.page(start, 50, {}, place);
      names.push(...page.tools.map(({ name }) => name));
      expect(standIn.requests.map(({ query }) => query.get('cursor') ?? undefined)).toEqual([place]);
      expect(standIn.requests.map(({ query }) => query.get('offset'))).toEqual(['0']);
      place = page.next;
      places.push(place);
    }
    expect(names).toEqual(all);
    expect(places.slice(0, 2)).not.toContain(undefined);
  });

  it('fetches a few new listings one by one', async () => {
    const standIn = createStandIn([listing(1)]);
    const cache = new DirectToolCache();
    await rentedToolset(clientOf(standIn), { cache }).list();
    standIn.requests.length = 0;
    for (const index of [2, 3]) standIn.add(listing(index));
    expect(await rentedToolset(clientOf(standIn), { cache }).list()).toHaveLength(FIXED.length + 3);
    expect(standIn.requests.map(({ path }) => path)).toEqual([
      '/v1/credentials',
      '/v1/listings/agent-3-aaaaaa',
      '/v1/listings/agent-2-aaaaaa',
    ]);
  });

  it('requests a second page together with the first, if more than one is needed', async () => {
    const standIn = createStandIn(listings(150));
    const client = clientOf(standIn);
    let askForSecond = (): void => undefined;
    const secondAsked = new Promise<void>((resolve) => (askForSecond = resolve));
    const listCredentials: typeof client.listCredentials = async (query, call) => {
      if (query?.offset === 0) await secondAsked;
      else askForSecond();
      return client.listCredentials(query, call);
    };
    const tools = await rentedToolset({ ...client, listCredentials }, { limit: 300 }).list();
    expect(tools).toHaveLength(FIXED.length + 150);
    expect(standIn.requests).toHaveLength(2);
    const failing = { ...client, listCredentials: () => Promise.reject(new Error('down')) };
    await expect(rentedToolset(failing, { limit: 300 }).list()).rejects.toThrow('down');
  });

  it('leaves out a rental with a deleted listing', async () => {
    const credential = {
      listing_id: 'agent-1-aaaaaa',
      listing_title: 'Agent 1',
      rental_model: 'one_time',
      status: 'active',
      purchased_at: '2026-01-01T00:00:00Z',
      expires_at: null,
      pda_address: 'pda',
    } as const;
    const listCredentials = async () => ({ total: 1, credentials: [credential] });
    const client = clientOf(createStandIn(), { listCredentials });
    expect(await rentedToolset(client).list()).toHaveLength(FIXED.length);
  });

  it('offers a rental whose listing cannot be fetched, without its schema', async () => {
    const getListing = () => Promise.reject(new Error('down'));
    const client = clientOf(createStandIn([listing(1)]), { getListing });
    const tool = (await rentedToolset(client).list()).at(-1);
    expect(tool?.name).toBe('agent_1_aaaaaa');
    expect(await tool?.invoke({ task: 't', input: '{"a":1}' })).toMatchObject({
      structured: { input: { a: 1 } },
    });
  });
});
