import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createKeypairSigner, createRotatingSigner } from '../chain/index.js';
import { eachFor, rpcFaults, type RpcFault } from '../testing/index.js';
import {
  openChargingWorld,
  PRICE,
  type ChargingServer,
  type ChargingWorld,
} from '../testing/market/charging-world.js';

const DEPOSIT = 10 * PRICE;

let world: ChargingWorld;
let server: ChargingServer;
let agentId: string;
beforeAll(async () => {
  world = await openChargingWorld();
});
beforeEach(async () => {
  const authority = createRotatingSigner(createKeypairSigner(world.keys.authority));
  server = await world.startServer(authority, { endpoints: 2 });
  agentId = await world.rented(server, 'per_query', DEPOSIT);
});
afterEach(() => world.reset());
afterAll(() => world?.close());

/** A run, and whether it has been answered after the liar was asked a number of times. */
async function runUnder(fault: RpcFault) {
  const [liar] = world.proxies;
  liar.fault = fault;
  let hasAnswer = false;
  const running = server.renter.execute({ agent_id: agentId, task: 'Go.' });
  void running.then(() => (hasAnswer = true)).catch(() => undefined);
  for (let polls = 0; polls < 5; polls += 1) await liar.nextCall('getSignatureStatuses');
  return { running, hasAnswer };
}

describe('a run on two endpoints, one of which lies', () => {
  it('keeps its output inside while one alone calls its charge confirmed [MON-40]', async () => {
    const [, honest] = world.proxies;
    honest.fault = rpcFaults.forgetsSent;
    const lies = eachFor({
      sendTransaction: rpcFaults.forgetsSent,
      getSignatureStatuses: rpcFaults.claims('finalized'),
    });
    const { running, hasAnswer } = await runUnder(lies);
    expect(hasAnswer).toBe(false);
    expect(await world.charges(agentId)).toMatchObject([{ state: 'signed' }]);
    expect(await world.chargedOnChain(agentId)).toEqual([]);
    // The charge is sent again until it lands.
    honest.fault = undefined;
    world.proxies[0].fault = undefined;
    expect(await running).toMatchObject({ status: 'completed', cost_lamports: PRICE });
    expect(await world.chargedOnChain(agentId)).toHaveLength(1);
  });

  it('is not free because one calls its charge failed', async () => {
    const failed = rpcFaults.claims('finalized', { InstructionError: [2, { Custom: 6001 }] });
    const { running, hasAnswer } = await runUnder(failed);
    expect(hasAnswer).toBe(false);
    expect(await world.chargedOnChain(agentId)).toHaveLength(1);
    expect(await world.charges(agentId)).toMatchObject([{ state: 'signed' }]);
    world.proxies[0].fault = undefined;
    expect(await running).toMatchObject({ status: 'completed', cost_lamports: PRICE });
    expect(await world.balanceOf(agentId)).toBe(BigInt(DEPOSIT - PRICE));
  });
});

it.each([
  ['first', 0],
  ['second', 1],
] as const)(
  'a run goes on while the %s of two endpoints is out, and readiness says so [MON-40]',
  async (_, index) => {
    const proxy = world.proxies[index];
    proxy.fault = rpcFaults.serverError;
    const run = await server.renter.execute({ agent_id: agentId, task: 'Go.' });
    expect(run).toMatchObject({ status: 'completed', cost_lamports: PRICE });
    expect(await server.ready()).toMatchObject({ status: 'ready', rpc_endpoints: { in_use: 1, of: 2 } });
    // No charge is final by the word of one.
    expect(await world.charges(agentId)).toMatchObject([{ state: 'confirmed' }]);
    proxy.fault = undefined;
    await vi.waitUntil(
      async () => {
        const { rpc_endpoints: rpc } = await server.ready();
        return JSON.stringify(rpc) === JSON.stringify({ in_use: 2, of: 2 });
      },
      { timeout: 30_000, interval: 250 },
    );
  },
);
