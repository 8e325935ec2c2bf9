import { fastify } from 'fastify';
import { Keypair } from '@solana/web3.js';
import { expect, it } from 'vitest';
import { dashboardRoutes, type DashboardDeps } from './routes.js';

const wallet = Keypair.generate().publicKey.toBase58();

/** Whether the pages of a server bring wallets that get test money. */
async function bringsWallets(deps: Pick<DashboardDeps, 'network' | 'testFunds'>) {
  const app = fastify();
  dashboardRoutes(app, { chain: {}, baseUrl: () => 'http://127.0.0.1', ...deps } as DashboardDeps);
  const { payload } = await app.inject({ url: '/dashboard' });
  await app.close();
  expect(payload).toContain(`data-chain="solana:${deps.network}"`);
  return payload.includes('data-test-money');
}

/** Asks a server for test money; tells its status and the wallets that were given some. */
async function ask(deps: Pick<DashboardDeps, 'network' | 'testFunds'>, body: object) {
  const app = fastify();
  // None of the rest is asked for here.
  dashboardRoutes(app, { chain: {}, ...deps } as DashboardDeps);
  const { statusCode } = await app.inject({ method: 'POST', url: '/dashboard/test-funds', body });
  await app.close();
  return statusCode;
}

it('is there on the local network with a faucet alone, and gives to wallets alone [SVC-21]', async () => {
  const given: string[] = [];
  const testFunds: DashboardDeps['testFunds'] = async (to) => {
    given.push(to.toBase58());
    return 10n;
  };
  expect(await ask({ network: 'localnet', testFunds }, { wallet })).toBe(200);
  expect(given).toEqual([wallet]);
  for (const network of ['devnet', 'mainnet'] as const) {
    expect(await ask({ network, testFunds }, { wallet })).toBe(404);
  }
  expect(await ask({ network: 'localnet', testFunds: undefined }, { wallet })).toBe(404);
  // The second is the System program, which no key signs for; the third is too long.
  const wrong = [
    { wallet: 'x' },
    { wallet: '1'.repeat(32) },
    { wallet: '1'.repeat(33) },
    { wallet, more: 1 },
  ];
  for (const body of [{}, ...wrong]) {
    expect(await ask({ network: 'localnet', testFunds }, body)).not.toBe(200);
  }
  expect(given).toEqual([wallet]);
});

it('decides whether the pages bring wallets, which ask it at each click [SVC-21]', async () => {
  const testFunds: DashboardDeps['testFunds'] = async () => 10n;
  expect(await bringsWallets({ network: 'localnet', testFunds })).toBe(true);
  expect(await bringsWallets({ network: 'localnet', testFunds: undefined })).toBe(false);
  expect(await bringsWallets({ network: 'devnet', testFunds })).toBe(false);
});
