import { createClient } from '@agent-rental/sdk';
import {
  answeringAgent,
  clientOptions,
  createStandIn,
  standInWallet,
  type StandIn,
} from '@agent-rental/stand-in';
import { payingWallet, rentedToolset, type ToolsetOptions } from '@agent-rental/tools';
import { Client as ClientV2, InMemoryTransport } from '@modelcontextprotocol/client';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createRentalServer } from './rental-server.js';
import type { RentalServerOptions } from './rental-server-options.js';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

/** A client with a connection to a server in this process. */
async function connect(
  standIn: StandIn,
  { tools = {}, ...options }: Partial<RentalServerOptions> & { tools?: ToolsetOptions } = {},
  capabilities: { elicitation?: { url?: Record<string, never> } } = {},
) {
  const client = createClient(clientOptions(standIn));
  const server = createRentalServer({ client, toolset: rentedToolset(client, tools), ...options });
  const [here, there] = InMemoryTransport.createLinkedPair();
  const mcp = new ClientV2({ name: 'test', version: '1' }, { capabilities });
  await server.connect(there);
  await mcp.connect(here);
  onTestFinished(() => mcp.close());
  return mcp;
}

const agentThatSays = (output: string | Record<string, string>) =>
  createStandIn([{ id: 'agent-aaaaaa', run: answeringAgent(output) }]);
const call = { name: 'agent_aaaaaa', arguments: { task: 't' } };
const NOTE = { type: 'text', text: expect.stringContaining('[agent-rental] Run run_1 completed.') as string };

describe('an output with files', () => {
  it('with only a picture becomes a picture', async () => {
    const client = await connect(agentThatSays(`data:image/png;base64,${PIXEL}`));
    const { content } = await client.callTool(call);
    expect(content).toEqual([{ type: 'image', data: PIXEL, mimeType: 'image/png' }, NOTE]);
  });

  it('has their addresses in their places', async () => {
    const csv = `data:text/csv;base64,${Buffer.from('a,b').toString('base64')}`;
    const client = await connect(agentThatSays({ title: 'Sums', table: csv }));
    const { content, structuredContent } = await client.callTool(call);
    const uri = 'agent-rental://runs/run_1#file-1';
    const output = { title: 'Sums', table: uri };
    expect(structuredContent).toMatchObject({ output, run: { run_id: 'run_1' } });
    expect(content).toEqual([
      { type: 'text', text: JSON.stringify(output) },
      { type: 'resource', resource: { uri, mimeType: 'text/csv', text: 'a,b' } },
      NOTE,
    ]);
  });

  it('that only looks like a file does not change', async () => {
    const client = await connect(agentThatSays('data:image/png;base64,<script>'));
    const { content } = await client.callTool(call);
    expect(content).toEqual([{ type: 'text', text: 'data:image/png;base64,<script>' }, NOTE]);
  });
});

describe('resources', () => {
  it('are the listings of rentals, outputs and receipts', async () => {
    const client = await connect(agentThatSays('the answer'));
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['agent-rental://listings/agent-aaaaaa']);
    // Some hosts offer resources as tools: the tool of this listing is `agent_aaaaaa`.
    expect(resources.map(({ name }) => name)).toEqual(['listing: agent-aaaaaa']);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toHaveLength(3);
    await client.callTool(call);
    const read = async (uri: string) => (await client.readResource({ uri })).contents[0];
    expect(await read('agent-rental://listings/agent-aaaaaa')).toMatchObject({
      mimeType: 'application/json',
      text: expect.stringContaining('"agent_id":"agent-aaaaaa"'),
    });
    const plain = { mimeType: 'text/plain', text: 'the answer' };
    expect(await read('agent-rental://runs/run_1')).toMatchObject(plain);
    expect(await read('agent-rental://runs/run_1/receipt')).toMatchObject({
      text: expect.stringContaining('"run_id":"run_1"'),
    });
  });

  it.each(['agent-rental://runs/none', 'agent-rental://listings/none-aaaaaa', 'file:///etc/passwd', 'x'])(
    'that are missing are an error (%s)',
    async (uri) => {
      const client = await connect(agentThatSays('x'));
      await expect(client.readResource({ uri })).rejects.toThrow(/not found/i);
    },
  );

  it('give a cut output in full, and the result links to it', async () => {
    const long = 'ä'.repeat(40_000);
    const client = await connect(agentThatSays(long));
    const { content } = await client.callTool(call);
    const link = content.find((block) => block.type === 'resource_link');
    expect(link).toMatchObject({ uri: 'agent-rental://runs/run_1' });
    const { contents } = await client.readResource({ uri: 'agent-rental://runs/run_1' });
    expect(contents[0]).toMatchObject({ text: long });
  });
});

describe('the prompt', () => {
  it('leads from a task to its answer, within a budget', async () => {
    const client = await connect(createStandIn());
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['find_and_rent_agent']);
    const args = { task: 'Sum my invoices.', budget_sol: '0.02' };
    const { messages } = await client.getPrompt({ name: 'find_and_rent_agent', arguments: args });
    const text = JSON.stringify(messages);
    for (const said of ['search_listings', 'rent_listing', 'run_agent', '0.02 SOL', 'Sum my invoices.'])
      expect(text).toContain(said);
  });

  it('needs its task', async () => {
    const client = await connect(createStandIn());
    await expect(client.getPrompt({ name: 'find_and_rent_agent' })).rejects.toMatchObject({ code: -32_602 });
    await expect(client.getPrompt({ name: 'none' })).rejects.toMatchObject({ code: -32_602 });
  });
});

describe('a spend above the policy’s amount', () => {
  const tools = { policy: { askAboveLamports: 1_000_000n } };
  const standIn = () => createStandIn([{ id: 'agent-aaaaaa', price_lamports: 2_000_000 }]);

  it.each([
    [true, false, 2_000_000],
    [false, true, 0],
  ])('needs the user’s answer, which is %s', async (approve, isError, charged) => {
    const market = standIn();
    const client = await connect(market, { tools }, { elicitation: {} });
    const asked: string[] = [];
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { approve } };
    });
    expect((await client.callTool(call)).isError ?? false).toBe(isError);
    expect(asked).toEqual([
      expect.stringMatching(/^Spend up to 2000000 lamports \(0\.002 SOL\) .*\n.* agent-aaaaaa\.\n.*: ".*"$/),
    ]);
    expect(market.charged).toBe(charged);
  });

  it('is paid with a new transaction when the answer to its rental comes after 40 s [TXN-23]', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const signer = standInWallet();
    const market = createStandIn([{ id: 'agent-aaaaaa', price_lamports: 2_000_000, rental: 'none' }]);
    const rental = { wallet: payingWallet(signer), policy: { askAboveLamports: 1_000_000n } };
    const client = await connect(market, { tools: rental }, { elicitation: {} });
    client.setRequestHandler('elicitation/create', async () => {
      vi.setSystemTime(Date.now() + 40_000);
      return { action: 'accept', content: { approve: true } };
    });
    const rented = await client.callTool({ name: 'rent_listing', arguments: { agent_id: 'agent-aaaaaa' } });
    expect(rented.isError ?? false).toBe(false);
    expect(market.paid).toBe(10_000_000);
  });

  it.each([{}, { elicitation: { url: {} } }])('is refused if the client shows no form: %j', async (able) => {
    const market = standIn();
    const client = await connect(market, { tools }, able);
    const result = await client.callTool(call);
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'agent-rental/error': { code: 'approval_required' } },
    });
    expect(market.charged).toBe(0);
  });
});

it('a run is streamed only to a client that asks for progress', async () => {
  const market = agentThatSays('x');
  const client = await connect(market);
  const asked = async (options?: { onprogress: () => void }) => {
    market.requests.length = 0;
    expect((await client.callTool(call, options)).content).toContainEqual({ type: 'text', text: 'x' });
    return market.requests.map(({ path }) => path);
  };
  expect(await asked()).toContain('/v1/execute');
  expect(await asked({ onprogress: () => undefined })).toContain('/v1/execute/stream');
});

describe('an input file', () => {
  async function newFolder(): Promise<{ inside: string; outside: string }> {
    const outside = await mkdtemp(join(tmpdir(), 'agent rental input '));
    onTestFinished(() => rm(outside, { recursive: true }));
    const inside = await mkdtemp(join(outside, 'allowed '));
    await writeFile(join(outside, 'secret.txt'), 'secret');
    await writeFile(join(inside, 'notes.txt'), 'notes');
    await mkdir(join(inside, 'folder'));
    await writeFile(join(inside, 'long.txt'), '');
    await truncate(join(inside, 'long.txt'), 8 * 1024 * 1024 + 1);
    await symlink(join(outside, 'secret.txt'), join(inside, 'link.txt'));
    return { inside, outside };
  }

  it('inside the allowed folder is sent, and its address is the input', async () => {
    const { inside } = await newFolder();
    const market = agentThatSays('x');
    const client = await connect(market, { inputFolder: inside });
    const { tools } = await client.listTools();
    expect(tools.at(-1)?.inputSchema.properties).toHaveProperty('input_file');
    await client.callTool({ ...call, arguments: { task: 't', input_file: 'notes.txt' } });
    const [sent] = market.requests.filter(({ path }) => path === '/v1/files');
    expect(sent).toMatchObject({ body: 'notes' });
    await client.callTool({ ...call, arguments: { task: 't', input_file: 'notes.txt', new_run: true } });
    const runs = market.requests.filter(({ path }) => path === '/v1/execute');
    // An equal call is an equal request, and the file is sent once.
    expect(market.requests.filter(({ path }) => path === '/v1/files')).toHaveLength(1);
    expect(runs[1]?.body).toEqual(runs[0]?.body);
    const [run] = runs;
    expect(run?.body).toMatchObject({ input_uri: expect.stringMatching(/^agent-rental:/) as string });
  });

  it.each([
    ...['../secret.txt', 'link.txt', '/etc/passwd', 'none.txt', '.', '..', 'folder'].map((path) => ({
      path,
      reason: 'is not a file inside',
    })),
    { path: 'long.txt', reason: 'has 8388609 bytes; the most is 8388608' },
    { path: 5, reason: 'is not the path of a file' },
  ])('that may not be sent is refused, and nothing is run ($path)', async ({ path, reason }) => {
    const { inside } = await newFolder();
    const market = agentThatSays('x');
    const client = await connect(market, { inputFolder: inside });
    const result = await client.callTool({ ...call, arguments: { task: 't', input_file: path } });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain(reason);
    expect(market.charged).toBe(0);
    expect(market.requests.filter((request) => request.path === '/v1/files')).toEqual([]);
  });

  it('is no argument without such a folder', async () => {
    const market = agentThatSays('x');
    const client = await connect(market);
    expect(JSON.stringify((await client.listTools()).tools)).not.toContain('input_file');
    const refused = await client.callTool({ ...call, arguments: { task: 't', input_file: '/etc/passwd' } });
    expect(JSON.stringify(refused.content)).toContain('is no argument of');
    expect(JSON.stringify(market.requests)).not.toContain('passwd');
    expect(market.charged).toBe(0);
  });
});
