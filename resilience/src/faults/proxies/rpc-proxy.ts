import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Step, StepObserver } from './step.js';

export interface RpcCall {
  readonly method: string;
  readonly params: unknown[];
  readonly body: string;
  /** Forwards the call to the chain. @returns the answer's text. */
  ask(): Promise<string>;
}

/**
 * Answers a call instead of the chain, or changes the chain's answer.
 *
 * @returns the answer's text and status. `cutAt` breaks the connection after that many bytes, and undefined breaks it at once.
 */
export type Misbehaviour = (
  call: RpcCall,
) => Promise<{ status?: number; text: string; cutAt?: number } | undefined>;

/** Starts a proxy in front of a JSON-RPC endpoint. The observer decides the fate of each call. */
export async function startRpcProxy(rpcUrl: string, observer: StepObserver) {
  let misbehaviour: Misbehaviour | undefined;
  const serve = async (body: string, response: ServerResponse): Promise<void> => {
    const { method, params = [] } = JSON.parse(body) as { method: string; params?: unknown[] };
    const carried = carriedBytes(method, params);
    const step: Step = {
      at: 'chain',
      name: method,
      parameters: [],
      holds: (bytes) => carried?.includes(bytes) === true || Buffer.from(body).includes(bytes),
      inTransaction: false,
      endsTransaction: false,
      isPrepared: false,
      connection: response,
    };
    const fate = observer.onStep(step);
    switch (fate) {
      case 'hold':
        return;
      case 'cut':
        response.destroy();
        return;
      case 'refuse':
        response.writeHead(429, { 'retry-after': '1' }).end('Too many requests');
        return;
      case 'pass':
      case 'hold_answer':
      case 'cut_answer': {
        const ask = async () => {
          const headers = { 'content-type': 'application/json' };
          return (await fetch(rpcUrl, { method: 'POST', headers, body })).text();
        };
        const answer = await (misbehaviour?.({ method, params, body, ask }) ?? { text: await ask() });
        if (fate === 'pass') reply(response, answer);
        if (fate === 'cut_answer') response.destroy();
        observer.onDone(step, fate);
        return;
      }
      default:
        fate satisfies never;
    }
  };
  const server = createServer((incoming, response) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => void serve(body, response).catch(() => response.destroy()));
    incoming.on('error', () => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Changes the proxy's answers from now on. undefined: the chain's answers. */
    misbehave: (how: Misbehaviour | undefined) => (misbehaviour = how),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function reply(response: ServerResponse, answer: Awaited<ReturnType<Misbehaviour>>): void {
  if (answer === undefined) {
    response.destroy();
    return;
  }
  const { status = 200, text, cutAt } = answer;
  const bytes = Buffer.from(text);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length });
  if (cutAt === undefined) response.end(bytes);
  else response.write(bytes.subarray(0, cutAt), () => response.destroy());
}

function carriedBytes(method: string, [first]: unknown[]): Buffer | undefined {
  const carries = method === 'sendTransaction' || method === 'simulateTransaction';
  return carries && typeof first === 'string' ? Buffer.from(first, 'base64') : undefined;
}
