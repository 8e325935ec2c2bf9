import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publishProgram, publishAgent, rentAgent, PRICE } from '../support/agents/agents.js';
import { slowAnswer, slowTask, startSlowAgents, type SlowAgents } from '../support/agents/slow-agents.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

interface ExportedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
}

const STEPS = ['parse', 'admit', 'slot', 'check', 'charge', 'run', 'deliver'].map((step) => `run.${step}`);
const SECRET = 'a confidential task';
const TRACES = { program: 'a'.repeat(32), connected: 'b'.repeat(32) };
const CALLER_SPAN = 'c'.repeat(16);

/** A collector as OpenTelemetry has them: OTLP over HTTP, JSON. */
async function startCollector(): Promise<{
  server: Server;
  url: string;
  bodies: string[];
  tokens: string[];
}> {
  const bodies: string[] = [];
  const tokens: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      if (request.url === '/v1/traces') bodies.push(body);
      tokens.push(request.headers.authorization ?? '');
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, tokens };
}

describe('a server with a collector', () => {
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let agents: SlowAgents;
  let stateDir: string;
  let marketplace: OwnMarketplace;
  let renter: Participant;
  let spans: ExportedSpan[];
  /** Trace headers of the requests that the connected agent got. */
  const seen: { traceparent: unknown; tracestate: unknown; baggage: unknown }[] = [];

  beforeAll(async () => {
    collector = await startCollector();
    agents = await startSlowAgents(({ headers: { traceparent, tracestate, baggage } }) =>
      seen.push({ traceparent, tracestate, baggage }),
    );
    stateDir = await newStateDir();
    marketplace = await startMarketplace(stateDir, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20token-of-the-collector',
      ALLOW_LOOPBACK: new URL(agents.agentUrl).origin,
    });
    const creator = await newParticipant(marketplace);
    const program = await publishProgram(marketplace, creator, 'return { done: true };');
    const connected = await publishAgent(creator, {
      name: 'traced-agent',
      category: 'research',
      description: 'Answers from an endpoint.',
      model: { provider: 'self_hosted', endpoint_url: agents.agentUrl },
      entrypoint_url: agents.agentUrl,
      input_schema: {},
      output_schema: { type: 'string' },
      listing: {
        rental_model: 'per_query',
        price_lamports: PRICE,
        min_deposit_lamports: PRICE,
        sample_output: ['x'],
      },
    });
    renter = await newParticipant(marketplace);
    for (const [name, agentId] of Object.entries({ program, connected })) {
      await rentAgent(renter, agentId, 3);
      const headers = {
        traceparent: `00-${TRACES[name as keyof typeof TRACES]}-${CALLER_SPAN}-01`,
        tracestate: 'vendor=private-to-the-caller',
        baggage: 'user=private-to-the-caller',
      };
      const client = new Client({ name: 'traced-client', version: '1.0.0' });
      const authorization = `Bearer ${renter.token}`;
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${marketplace.dev.base_url}/mcp`), {
          requestInit: { headers: { ...headers, authorization } },
        }),
      );
      const task = name === 'program' ? SECRET : slowTask(0, SECRET);
      const result = await client.callTool({ name: 'run_agent', arguments: { agent_id: agentId, task } });
      expect(JSON.stringify(result.content)).toContain(name === 'program' ? 'done' : slowAnswer(SECRET));
      await client.close();
    }
    // The stop exports the remaining spans.
    expect(await marketplace.stop()).toBe(0);
    spans = collector.bodies.flatMap((body) =>
      (
        JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: ExportedSpan[] }[] }[] }
      ).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    );
  }, 240_000);
  afterAll(async () => {
    await marketplace?.kill();
    await agents?.close();
    collector?.server.close();
    await removeStateDir(stateDir);
  });

  const ofTrace = (traceId: string) => spans.filter((span) => span.traceId === traceId);
  /** The names from a span up to the one of the caller. */
  const pathOf = (traceId: string, name: string): string[] => {
    const all = new Map(ofTrace(traceId).map((span) => [span.spanId, span]));
    const path: string[] = [];
    let span = ofTrace(traceId).find((one) => one.name === name);
    for (; span; span = all.get(span.parentSpanId ?? '')) {
      path.push(span.name);
      if (span.parentSpanId === CALLER_SPAN) path.push('the caller');
    }
    return path;
  };

  test('shows a call over MCP as one trace, from the caller’s span over each step to model, sandbox and chain [OPS-57]', () => {
    const names = ofTrace(TRACES.program).map(({ name }) => name);
    for (const step of STEPS) expect(names.filter((name) => name === step)).toEqual([step]);
    const run = ['POST /v1/execute', 'POST /mcp', 'the caller'];
    expect(pathOf(TRACES.program, 'model.complete')).toEqual(['model.complete', 'run.run', ...run]);
    expect(pathOf(TRACES.program, 'sandbox.take')).toEqual(['sandbox.take', 'run.check', ...run]);
    expect(pathOf(TRACES.program, 'rpc simulateTransaction')).toEqual([
      'rpc simulateTransaction',
      'run.check',
      ...run,
    ]);
    expect(pathOf(TRACES.program, 'rpc sendTransaction')).toEqual([
      'rpc sendTransaction',
      'run.charge',
      ...run,
    ]);
    for (const { startTimeUnixNano, endTimeUnixNano } of ofTrace(TRACES.program)) {
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
    }
  });

  test('passes the trace on to a connected agent, and no other trace header of its caller [OPS-57]', () => {
    const [request] = ofTrace(TRACES.connected).filter(({ name }) => name === 'agent.request');
    expect(seen).toEqual([
      {
        traceparent: `00-${TRACES.connected}-${request?.spanId}-01`,
        tracestate: undefined,
        baggage: undefined,
      },
    ]);
  });

  test('exports no task, no token and no key, and gives the collector its own token [OPS-57]', () => {
    const all = collector.bodies.join();
    expect(all.length).toBeGreaterThan(1_000);
    for (const secret of [
      SECRET,
      renter.token,
      'token-of-the-collector',
      'private-to-the-caller',
      'run_javascript',
    ])
      expect(all).not.toContain(secret);
    expect(new Set(collector.tokens)).toEqual(new Set(['Bearer token-of-the-collector']));
  });
});
