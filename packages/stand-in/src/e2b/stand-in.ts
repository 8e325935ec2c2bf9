import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerAsEnvd, answerJson, readBody } from './envd.js';
import { Machine } from './machine.js';

/** The fields of a request for a sandbox. */
export interface E2bCreate {
  templateID?: string;
  /** Seconds until the sandbox ends by itself. */
  timeout?: number;
  metadata?: Record<string, string>;
  allow_internet_access?: boolean;
  network?: { allowPublicTraffic?: boolean };
}

/** An answer in place of a sandbox. */
export interface E2bRefusal {
  status: number;
  message: string;
}

export interface E2bStandInOptions {
  /** How many sandboxes may be there at once; one more is 429. Default: any number. */
  maxSandboxes?: number;
  /** The delay of the next call that brings input. Default: none. */
  inputDelayMs?: () => number;
}

/** E2B's two services, as its SDK calls them, on loopback. Commands truly run, as processes of this machine. */
export interface E2bStandIn {
  /** For `apiUrl` and `sandboxUrl` alike. */
  readonly url: string;
  readonly apiKey: string;
  /** Every request for a sandbox that was granted, and when (milliseconds of `performance.now`). */
  readonly creates: readonly (E2bCreate & { at: number })[];
  /** The sandboxes that are there. */
  readonly machines: ReadonlyMap<string, Machine>;
  /** The most sandboxes that were there at once. */
  readonly mostMachines: number;
  /** Answers the next requests for a sandbox with these, in order. */
  refuseNext(...refusals: E2bRefusal[]): void;
  /** Answers requests for the end of a sandbox with that status, or not at all, until undefined. */
  refuseKills(status: number | 'hang' | undefined): void;
  /** No machine answers a call until the result is called. */
  hangMachines(): () => void;
  /** Does not answer the next request for a sandbox until the result is called. */
  holdNextCreate(): () => void;
  close(): Promise<void>;
}

/** A version whose SDK features are all known here. */
const ENVD_VERSION = '0.6.2';

/** Starts the stand-in on a free port. */
export async function startE2bStandIn(options: E2bStandInOptions = {}): Promise<E2bStandIn> {
  const { maxSandboxes = Infinity, inputDelayMs = () => 0 } = options;
  const apiKey = 'e2b_0123456789abcdef0123456789abcdef01234567';
  const machines = new Map<string, Machine>();
  const creates: (E2bCreate & { at: number })[] = [];
  const refusals: E2bRefusal[] = [];
  let killStatus: number | 'hang' | undefined;
  let createHold: Promise<void> | undefined;
  let machineHold: Promise<void> | undefined;
  let mostMachines = 0;
  let creating = 0;

  const refuse = (response: ServerResponse, status: number, message: string): void =>
    answerJson(response, status, { code: status, message });

  async function endMachine(id: string): Promise<void> {
    const machine = machines.get(id);
    await machine?.end();
    machines.delete(id);
  }

  async function create(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse((await readBody(request)).toString()) as E2bCreate;
    const refusal = refusals.shift();
    if (refusal !== undefined) return refuse(response, refusal.status, refusal.message);
    if (machines.size + creating >= maxSandboxes) {
      return refuse(response, 429, `you have reached the maximum number of ${maxSandboxes} sandboxes`);
    }
    creating += 1;
    creates.push({ ...body, at: performance.now() });
    const machine = await Machine.create({
      metadata: body.metadata ?? {},
      internet: body.allow_internet_access !== false,
    });
    creating -= 1;
    machines.set(machine.id, machine);
    const hold = createHold;
    createHold = undefined;
    await hold;
    mostMachines = Math.max(mostMachines, machines.size);
    setTimeout(() => void endMachine(machine.id), (body.timeout ?? 15) * 1000).unref();
    answerJson(response, 201, {
      sandboxID: machine.id,
      templateID: body.templateID,
      clientID: 'stand-in',
      envdVersion: ENVD_VERSION,
      envdAccessToken: machine.accessToken,
    });
  }

  function list(response: ServerResponse, wanted: URLSearchParams): void {
    const found = [...machines.values()].filter(({ metadata }) =>
      [...wanted].every(([name, value]) => metadata[name] === value),
    );
    answerJson(
      response,
      200,
      found.map(({ id, metadata, startedAt }) => ({
        sandboxID: id,
        templateID: 'base',
        clientID: 'stand-in',
        metadata,
        startedAt,
        endAt: startedAt,
        state: 'running',
        cpuCount: 2,
        memoryMB: 512,
        envdVersion: ENVD_VERSION,
      })),
    );
  }

  /** The REST service that makes and ends sandboxes. */
  async function answerAsControlPlane(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stand-in.invalid');
    if (request.headers['x-api-key'] !== apiKey) return refuse(response, 401, 'invalid API key');
    const [, sandboxId] = /^\/sandboxes\/(\w+)$/.exec(pathname) ?? [];
    if (request.method === 'POST' && pathname === '/v2/sandboxes') return create(request, response);
    if (request.method === 'GET' && pathname === '/v2/sandboxes') {
      return list(response, new URLSearchParams(searchParams.get('metadata') ?? ''));
    }
    if (request.method === 'DELETE' && sandboxId !== undefined) {
      if (killStatus === 'hang') return undefined;
      if (killStatus !== undefined) return refuse(response, killStatus, 'the sandbox cannot be ended');
      if (!machines.has(sandboxId)) return refuse(response, 404, `sandbox ${sandboxId} not found`);
      await endMachine(sandboxId);
      response.writeHead(204).end();
      return undefined;
    }
    return refuse(response, 404, `${request.method} ${pathname}`);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sandboxId = request.headers['e2b-sandbox-id'];
    if (typeof sandboxId !== 'string') return answerAsControlPlane(request, response);
    await machineHold;
    const machine = machines.get(sandboxId);
    if (machine === undefined) return refuse(response, 502, 'The sandbox was not found');
    if (request.headers['x-access-token'] !== machine.accessToken) {
      return refuse(response, 401, 'invalid access token');
    }
    return answerAsEnvd(machine, request, response, inputDelayMs);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey,
    creates,
    machines,
    get mostMachines() {
      return mostMachines;
    },
    refuseNext: (...next) => void refusals.push(...next),
    refuseKills: (status) => (killStatus = status),
    hangMachines() {
      let release = (): void => {};
      machineHold = new Promise((resolve) => (release = resolve));
      return () => {
        machineHold = undefined;
        release();
      };
    },
    holdNextCreate() {
      let release = (): void => {};
      createHold = new Promise((resolve) => (release = resolve));
      return release;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      await Promise.all([...machines.keys()].map(endMachine));
      server.closeAllConnections();
      await closed;
    },
  };
}
