import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A chain that knows balances and airdrops: what the example wallets ask of an RPC server. */
export interface FakeChain {
  readonly url: string;
  readonly balances: Map<string, number>;
  close(): Promise<void>;
}

export async function startFakeChain(): Promise<FakeChain> {
  const balances = new Map<string, number>();
  const answer = (method: string, params: unknown[]): unknown => {
    const [address, amount] = params as [string, number];
    if (method === 'getBalance') return { context: { slot: 1 }, value: balances.get(address) ?? 0 };
    if (method === 'getSignatureStatuses') {
      const status = { slot: 1, confirmations: 1, err: null, confirmationStatus: 'confirmed' };
      return { context: { slot: 1 }, value: [status] };
    }
    if (method !== 'requestAirdrop') throw new Error(`The fake chain has no ${method}.`);
    balances.set(address, (balances.get(address) ?? 0) + amount);
    return '1'.repeat(64);
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
        id: string;
        method: string;
        params: unknown[];
      };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answer(method, params) }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    balances,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
