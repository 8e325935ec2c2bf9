import { answeringAgent, createStandIn, hangingAgent, type StandInAgent } from '@agent-rental/stand-in';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { MCP_CLIENTS } from '../testing/mcp-clients.js';
import { connect, HEADERS, message, OPENING, post, serve } from '../testing/opened.js';

describe.each(Object.keys(MCP_CLIENTS))('MCP over HTTP with %s', (name) => {
  it('tells how to search, rent and run, and lists the tools', async () => {
    const server = await serve(createStandIn([{ id: 'echo-aaaaaa', title: 'Echo' }]));
    const client = await connect(name, server);
    expect(client.instructions).toContain('search_listings');
    const { tools, nextCursor } = await client.listTools();
    expect(nextCursor).toBeUndefined();
    expect(tools.map((tool) => tool.name)).toEqual([
      'search_listings',
      'get_listing',
      'rent_listing',
      'hire',
      'list_rentals',
      'run_agent',
      'get_run',
      'cancel_run',
      'echo_aaaaaa',
    ]);
    expect(tools.at(-1)).toMatchObject({
      title: 'Rented agent: Echo',
      inputSchema: { type: 'object', required: ['agent_id', 'task'] },
    });
    // Some hosts drop tools without all four hints.
    const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
    for (const { annotations } of tools) {
      expect(annotations).toMatchObject(Object.fromEntries(hints.map((hint) => [hint, expect.any(Boolean)])));
    }
    expect(tools.at(-1)?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false });
    expect(tools[0]?.annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
  });

  it('runs a rented agent: an object comes structured and as the same JSON, the charge beside it', async () => {
    const server = await serve(createStandIn([{ id: 'echo-aaaaaa' }]));
    const client = await connect(name, server);
    const output = { task: 'sum', input: { text: 'x' } };
    const result = await client.callTool('echo_aaaaaa', { agent_id: 'echo-aaaaaa', ...output });
    const note = '[agent-rental] Run run_1 completed. Charged 2000000 lamports (0.002 SOL).';
    expect(result.content).toEqual([
      { type: 'text', text: JSON.stringify(output) },
      { type: 'text', text: note },
    ]);
    // Some hosts show only this to their models. The output itself follows the creator's schema.
    expect(result.structuredContent).toEqual({
      output,
      run: { run_id: 'run_1', cost_lamports: 2_000_000, charged: true, note },
    });
    expect(result.isError).toBeFalsy();
    expect(result).toMatchObject({
      _meta: { 'agent-rental/run': { run_id: 'run_1', agent_id: 'echo-aaaaaa', cost_lamports: 2_000_000 } },
    });
  });

  it('uses an agent that was rented after the list [ADP-1]', async () => {
    const standIn = createStandIn();
    const client = await connect(name, await serve(standIn));
    await client.listTools();
    standIn.add({ id: 'late-aaaaaa' });
    const args = { agent_id: 'late-aaaaaa', task: 't' };
    const answer = { structuredContent: { output: { task: 't' } } };
    for (const tool of ['run_agent', 'late_aaaaaa'])
      expect(await client.callTool(tool, args)).toMatchObject(answer);
  });

  it('reports failures as results and unknown tools as errors', async () => {
    const standIn = createStandIn([
      { id: 'free-aaaaaa', rental: 'none' },
      { id: 'fails-aaaaaa', run: answeringAgent('No table found.', 'failed') },
    ]);
    const client = await connect(name, await serve(standIn));
    const refused = await client.callTool('run_agent', { agent_id: 'free-aaaaaa', task: 't' });
    expect(refused).toMatchObject({
      isError: true,
      _meta: {
        'agent-rental/error': {
          code: 'credential_not_found',
          pay_per_call: { url: expect.stringMatching(/\/v1\/execute$/) as string, price_lamports: 2_000_000 },
        },
      },
    });
    const failed = await client.callTool('fails_aaaaaa', { task: 't' });
    expect(failed.isError).toBe(true);
    expect(failed.content[0]?.text).toContain('Calling again charges again.');
    expect(failed.content[0]?.text).toContain('No table found.');
    await expect(client.callTool('nothing', {})).rejects.toMatchObject({ code: -32_602 });
  });

  it('reports progress to clients that ask for it', async () => {
    const server = await serve(createStandIn([{ id: 'echo-aaaaaa' }]));
    const client = await connect(name, server);
    const heard: { progress: number; message?: string | undefined }[] = [];
    await client.callTool('echo_aaaaaa', { task: 't' }, { onprogress: (progress) => heard.push(progress) });
    expect(heard.map(({ message }) => message)).toEqual(['started', '7 characters of output']);
    expect(heard.map(({ progress }) => progress)).toEqual([1, 2]);
  });

  it('sends signs of life while an agent works', async () => {
    const agent = hangingAgent();
    const server = await serve(createStandIn([{ id: 'slow-aaaaaa', run: agent.run }]), { heartbeatMs: 5 });
    const client = await connect(name, server);
    const controller = new AbortController();
    const alive = new Promise<void>((resolve) => {
      const onprogress = ({ message }: { message?: string | undefined }) => {
        if (message?.startsWith('running for')) resolve();
      };
      client
        .callTool('slow_aaaaaa', { task: 't' }, { signal: controller.signal, onprogress })
        .catch(() => undefined);
    });
    // A cancel before the run started leaves no run to abort.
    await Promise.all([alive, agent.started]);
    controller.abort();
    await agent.aborted;
  });

  it('cancels the run when the client cancels the call', async () => {
    const agent = hangingAgent();
    const client = await connect(name, await serve(createStandIn([{ id: 'slow-aaaaaa', run: agent.run }])));
    const controller = new AbortController();
    const calling = client.callTool('slow_aaaaaa', { task: 't' }, { signal: controller.signal });
    await agent.started;
    controller.abort(new Error('enough'));
    await expect(calling).rejects.toThrow(/enough|aborted/);
    await agent.aborted;
  });

  it('writes the open answers before it closes [ADP-9]', async () => {
    let started = (): void => undefined;
    let goOn = (): void => undefined;
    const beginning = new Promise<void>((resolve) => (started = resolve));
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const run: StandInAgent = async function* () {
      started();
      yield 'started';
      await gate;
      return { output: 'done' };
    };
    const server = await serve(createStandIn([{ id: 'slow-aaaaaa', run }]));
    const client = await connect(name, server);
    const calling = client.callTool('slow_aaaaaa', { task: 't' });
    await beginning;
    let isClosed = false;
    const closing = server.closeHandler(60_000).then(() => (isClosed = true));
    // Time in which a close without a wait would end.
    await delay(20);
    expect(isClosed).toBe(false);
    goOn();
    expect(await calling).toMatchObject({ content: [{ text: 'done' }, {}] });
    await closing;
  });

  it('pages', async () => {
    const rented = Array.from({ length: 5 }, (_, index) => ({ id: `agent-${index}-aaaaaa` }));
    const client = await connect(name, await serve(createStandIn(rented), { pageSize: 4 }));
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor);
      names.push(...page.tools.map((tool) => tool.name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(names).toHaveLength(13);
    expect(new Set(names).size).toBe(13);
    await expect(client.listTools('nonsense')).rejects.toMatchObject({ code: -32_602 });
  });

  it('still lists the fixed tools if the rentals cannot be listed', async () => {
    const standIn = createStandIn([{ id: 'echo-aaaaaa' }]);
    const errors: unknown[] = [];
    const broken = { ...standIn, fetch: async () => Response.json({}, { status: 502 }) };
    const client = await connect(name, await serve(broken, { onError: (error) => errors.push(error) }));
    expect((await client.listTools()).tools).toHaveLength(8);
    expect(errors.length).toBeGreaterThan(0);
    expect(await client.callTool('run_agent', { agent_id: 'echo-aaaaaa', task: 't' })).toMatchObject({
      isError: true,
      _meta: { 'agent-rental/error': { code: 'connection_error' } },
    });
  });
});

/** The parameters of every request of the 2026-07-28 revision. */
const MODERN_META = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': OPENING.clientInfo,
    'io.modelcontextprotocol/clientCapabilities': {},
  },
};

describe('MCP over bare HTTP', () => {
  it.each([
    ['{"jsonrpc"', 400, -32_700],
    ['', 400, -32_700],
    ['[]', 400, -32_600],
    [`[${message('tools/list', {}, 1)}]`, 400, -32_600],
    [`"${'x'.repeat(5 * 1024 * 1024)}"`, 413, -32_000],
  ])('refuses a body that is not one message (%#)', async (body, status, code) => {
    const { url } = await serve(createStandIn());
    const response = await post(url, body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  it.each([
    ['initialize', { ...OPENING, capabilities: { sampling: null } }, 'params.capabilities.sampling: '],
    ['initialize', { ...OPENING, clientInfo: { name: 'a' } }, 'params.clientInfo.version: '],
    ['initialize', undefined, 'params: '],
    ['tools/list', { cursor: null }, 'params.cursor: Invalid input: expected string, received null'],
    ['resources/list', { cursor: 5 }, 'params.cursor: '],
    ['resources/read', {}, 'params.uri: '],
    ['prompts/get', { name: 'x', arguments: { a: 5 } }, 'params.arguments.a: '],
    ['tools/call', { name: 5 }, 'params.name: '],
    ['tools/call', { name: 'search_listings', arguments: [] }, 'params.arguments: '],
    ['tools/list', [], '"params" must be an object'],
    ['tools/list', { _meta: { progressToken: {} } }, '"progressToken" in "_meta" must be'],
  ])('tells wrong parameters of %s in words (%j)', async (method, params, words) => {
    const { url } = await serve(createStandIn());
    const text = await (await post(url, message(method, params, 1))).text();
    const line = text.split('\n').find((each) => each.replace('data: ', '').startsWith('{'));
    const { id, error } = JSON.parse(line?.replace('data: ', '') ?? '') as { id: number; error: Error };
    expect({ id, error }).toMatchObject({ id: 1, error: { code: -32_602 } });
    expect(error.message).toContain(words);
    expect(error.message).not.toMatch(/[[\]\n]/);
  });

  it.each([
    ['*/*', 200, 'text/event-stream'],
    ['application/*, text/*', 200, 'text/event-stream'],
    ['APPLICATION/JSON, Text/Event-Stream;q=0.1', 200, 'text/event-stream'],
    ['application/*', 200, 'application/json'],
    ['application/json, text/event-stream;q=0', 200, 'application/json'],
    ['application/jsonx', 406, 'application/json'],
    ['text/html, */*;q=0', 406, 'application/json'],
  ])('reads the media ranges of Accept: %s', async (accept, status, type) => {
    const { url } = await serve(createStandIn());
    const response = await post(url, message('initialize', OPENING, 1), { accept });
    expect([response.status, response.headers.get('content-type')]).toEqual([status, type]);
    const text = await response.text();
    expect(text).toContain(status === 406 ? '"id":1,"error":{"code":-32000' : '"serverInfo"');
    expect(response.headers.has('mcp-session-id')).toBe(status === 200);
  });

  it.each([
    [{}, 200],
    [{ origin: 'http://127.0.0.1:8080' }, 200],
    [{ origin: 'http://evil.example' }, 403],
    [{ host: 'evil.example' }, 403],
  ])('answers only allowed hosts and origins (%j)', async (given, status) => {
    const { url } = await serve(createStandIn(), { allowedHosts: ['127.0.0.1'] });
    const body = message('initialize', OPENING, 1);
    // `fetch` sets the host itself, so use `request`.
    const asking = request(url, { method: 'POST', headers: { ...HEADERS, ...given } }).end(body);
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(status);
  });

  it('gives 2025-era clients a session that no server ever forgets', async () => {
    const { url } = await serve(createStandIn());
    const opened = await post(url, message('initialize', OPENING, 1));
    expect(opened.headers.get('mcp-session-id')).toMatch(/^[\w-]+\.[\w-]{43}$/);
    await opened.text();
    const foreign = await post(url, message('tools/list', {}, 2), { 'mcp-session-id': 'of-another-server' });
    expect(foreign.status).toBe(200);
    expect(await foreign.text()).toContain('search_listings');
    const listening = await fetch(url, { headers: HEADERS });
    expect([listening.status, listening.headers.get('allow')]).toEqual([405, 'POST, DELETE']);
  });

  it("does not let a caller cancel another's call", async () => {
    const agent = hangingAgent();
    const { url } = await serve(createStandIn([{ id: 'slow-aaaaaa', run: agent.run }]));
    const session = { 'mcp-session-id': 'shared' };
    const cancel = message('notifications/cancelled', { requestId: 7 });
    const call = message('tools/call', { name: 'slow_aaaaaa', arguments: { task: 't' } }, 7);
    const calling = post(url, call, session);
    await agent.started;
    expect((await post(url, cancel, { ...session, authorization: 'Bearer other' })).status).toBe(202);
    expect((await post(url, cancel, { 'mcp-session-id': 'another' })).status).toBe(202);
    // A whole exchange later, a cancellation that had got through would have shown.
    await (await post(url, message('tools/list', {}, 8), session)).text();
    expect(agent.wasAborted()).toBe(false);
    await post(url, cancel, session);
    await agent.aborted;
    expect(await (await calling).text()).toContain('The call was cancelled.');
  });

  it.each([
    ['2025', {}, {}],
    ['2026', MODERN_META, { 'mcp-protocol-version': '2026-07-28' }],
  ])('lets a caller without a session cancel its call (%s) [RUN-11]', async (_era, params, headers) => {
    const agent = hangingAgent();
    const { url } = await serve(createStandIn([{ id: 'slow-aaaaaa', run: agent.run }]));
    const named = { ...headers, 'mcp-method': 'tools/call', 'mcp-name': 'slow_aaaaaa' };
    const call = message('tools/call', { name: 'slow_aaaaaa', arguments: { task: 't' }, ...params }, 7);
    const calling = post(url, call, named);
    await agent.started;
    const cancel = (requestId: number, more: object) => {
      const told = { ...headers, 'mcp-method': 'notifications/cancelled', ...more };
      return post(url, message('notifications/cancelled', { requestId, ...params }), told);
    };
    expect((await cancel(8, {})).status).toBe(202);
    expect((await cancel(7, { authorization: 'Bearer other' })).status).toBe(202);
    await (await post(url, message('tools/list', {}, 8))).text();
    expect(agent.wasAborted()).toBe(false);
    await cancel(7, {});
    await agent.aborted;
    expect(await (await calling).text()).toContain('The call was cancelled.');
  });

  it('aborts the run when the connection goes away', async () => {
    const agent = hangingAgent();
    const { url } = await serve(createStandIn([{ id: 'slow-aaaaaa', run: agent.run }]));
    const controller = new AbortController();
    const body = message('tools/call', { name: 'slow_aaaaaa', arguments: { task: 't' } }, 7);
    const calling = fetch(url, { method: 'POST', headers: HEADERS, body, signal: controller.signal });
    const outcome = calling.then((response) => response.text()).catch((error: unknown) => error);
    await agent.started;
    controller.abort();
    await agent.aborted;
    expect(await outcome).toMatchObject({ name: 'AbortError' });
  });
});
