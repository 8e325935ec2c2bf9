import { Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { createKeypairSigner, createRotatingSigner } from '../chain/index.js';
import { onlyFor, rpcFaults } from '../testing/index.js';
import { openChargingWorld, PRICE, type ChargingWorld } from '../testing/market/charging-world.js';

const next = Keypair.generate();
const signerOf = (key: Keypair) => createKeypairSigner(key);

let world: ChargingWorld;
beforeAll(async () => {
  world = await openChargingWorld();
  await world.fund(next.publicKey, LAMPORTS_PER_SOL);
});
afterEach(() => world.reset());
afterAll(() => world?.close());

it('the authority is handed over under load: every run is charged exactly once, by one of the two keys, and none is lost [MON-20]', async () => {
  const { keys, startServer, rented, charges, changeProtocol, chargedOnChain, balanceOf } = world;
  const DEPOSIT = 2_000 * PRICE;
  const old = keys.authority;
  const server = await startServer(createRotatingSigner(signerOf(old), signerOf(next)));
  const agentId = await rented(server, 'per_query', DEPOSIT);
  const answered: string[] = [];
  const load = { isOver: false };
  const WORKERS = 10;
  const runsOf = Array.from({ length: WORKERS }, () => 0);
  const worker = async (index: number) => {
    while (!load.isOver) {
      const run = await server.renter.execute({ agent_id: agentId, task: 'Go.' });
      expect(run).toMatchObject({ status: 'completed', cost_lamports: PRICE });
      answered.push(run.run_id);
      runsOf[index] = (runsOf[index] ?? 0) + 1;
    }
  };
  const workers = Promise.all(runsOf.map((_, index) => worker(index)));
  /** Waits until every worker has made two more runs: then the earlier runs have ended. */
  const allGoOn = async () => {
    const before = [...runsOf];
    const haveGoneOn = () => runsOf.every((count, index) => count >= (before[index] ?? 0) + 2);
    await Promise.race([vi.waitUntil(haveGoneOn, { timeout: 60_000 }), workers]);
  };
  const payersOf = async () => new Set((await charges(agentId)).map(({ payer }) => payer));

  await allGoOn();
  expect(await payersOf()).toEqual(new Set([old.publicKey.toBase58()]));
  await changeProtocol({ nextAuthority: next.publicKey });
  // Readiness reads the protocol anew; a charge does so when its copy is 30 s old.
  await vi.waitUntil(
    async () => (await server.ready()) && (await payersOf()).has(next.publicKey.toBase58()),
    {
      timeout: 60_000,
    },
  );
  // Then no charge by the old key is on its way any more.
  await allGoOn();
  await changeProtocol({ authority: next.publicKey, nextAuthority: null });
  await allGoOn();
  load.isOver = true;
  await workers;

  const onChain = await chargedOnChain(agentId);
  expect(onChain.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
    answered.map((runId) => runId.replaceAll('-', '')).toSorted((a, b) => (a < b ? -1 : 1)),
  );
  expect(await balanceOf(agentId)).toBe(BigInt(DEPOSIT - answered.length * PRICE));
  const states = new Set((await charges(agentId)).map(({ state }) => state));
  expect([...states].filter((state) => state !== 'confirmed' && state !== 'finalized')).toEqual([]);
  expect(await server.ready()).toMatchObject({ status: 'ready' });
  await server.stop();

  // The new key alone goes on, also for a new listing.
  const after = await startServer(createRotatingSigner(signerOf(next)));
  await rented(after, 'one_time');
  expect((await after.renter.execute({ agent_id: agentId, task: 'Go.' })).status).toBe('completed');
  await after.stop();
}, 180_000);

it('a charge that the old key signed is brought to its end by a server with the new one [MON-20]', async () => {
  const { keys, startServer, rented, charges, changeProtocol, chargedOnChain, balanceOf, creditsOf } = world;
  const [proxy] = world.proxies;
  await changeProtocol({ authority: keys.authority.publicKey, nextAuthority: next.publicKey });
  const before = await startServer(createRotatingSigner(signerOf(keys.authority)));
  const agentId = await rented(before, 'per_query', 10 * PRICE);
  proxy.fault = onlyFor(['sendTransaction'], rpcFaults.forgetsSent);
  const sent = proxy.nextCall('sendTransaction');
  const running = before.renter.execute({ agent_id: agentId, task: 'Go.' }).catch(() => undefined);
  await sent;
  await before.stop();
  await running;
  expect(await charges(agentId)).toMatchObject([
    { state: 'signed', payer: keys.authority.publicKey.toBase58() },
  ]);
  expect(await chargedOnChain(agentId)).toEqual([]);
  // Only now: a call of the server that stopped may still be on its way.
  proxy.fault = undefined;

  const after = await startServer(createRotatingSigner(signerOf(next)));
  await vi.waitUntil(async () => (await chargedOnChain(agentId)).length > 0, { timeout: 60_000 });
  await vi.waitUntil(async () => (await charges(agentId)).every(({ state }) => state !== 'signed'), {
    timeout: 60_000,
  });
  // Paid once; the run was not delivered, so the next one is free. The credit follows the confirmation.
  await vi.waitUntil(async () => (await creditsOf(agentId)) === 1, { timeout: 60_000 });
  const credited = await after.renter.execute({ agent_id: agentId, task: 'Again.' });
  expect(credited).toMatchObject({ status: 'completed', cost_lamports: 0 });
  expect(await chargedOnChain(agentId)).toHaveLength(1);
  expect(await balanceOf(agentId)).toBe(BigInt(9 * PRICE));
  await after.stop();
}, 120_000);

it('an authority below its reserve refuses Per-Task runs, and says so; other rentals go on [MON-20]', async () => {
  const { startServer, rented, charges, balanceOf } = world;
  const rich = await startServer(createRotatingSigner(signerOf(next)));
  const byTask = await rented(rich, 'per_query', 10 * PRICE);
  const once = await rented(rich, 'one_time');
  await rich.stop();
  const held = await world.lamportsOf(next.publicKey);
  const server = await startServer(createRotatingSigner(signerOf(next)), {
    environment: { AUTHORITY_RESERVE_LAMPORTS: String(held), METRICS_TOKEN: 'a-token-of-the-operator' },
  });
  await expect(server.renter.execute({ agent_id: byTask, task: 'Go.' })).rejects.toMatchObject({
    code: 'service_unavailable',
    message: expect.stringContaining('takes no Per-Task runs'),
  });
  expect(await charges(byTask)).toEqual([]);
  expect(await balanceOf(byTask)).toBe(BigInt(10 * PRICE));
  expect((await server.renter.execute({ agent_id: once, task: 'Go.' })).status).toBe('completed');
  expect(await server.ready()).toMatchObject({
    status: 'ready',
    funds: {
      per_task_runs: 'refused',
      authority_lamports: held,
      treasury_minimum_lamports: expect.any(Number),
    },
  });
  const metrics = await fetch(`${server.baseUrl}/metrics`, {
    headers: { authorization: 'Bearer a-token-of-the-operator' },
  });
  const text = await metrics.text();
  expect(text).toContain(`agent_rental_authority_lamports ${held}\n`);
  expect(text).toMatch(/agent_rental_treasury_lamports \d+\n/);
  await server.stop();
}, 120_000);
