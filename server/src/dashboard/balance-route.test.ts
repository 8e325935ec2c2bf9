import { Keypair } from '@solana/web3.js';
import Fastify from 'fastify';
import { expect, it } from 'vitest';
import type { Chain } from '../chain/index.js';
import { balanceRoute } from './balance-route.js';

const rich = Keypair.generate().publicKey;
const app = Fastify();
const getAccounts = (async (addresses) => ({
  slot: 1n,
  accounts: addresses.map((address) => (address.equals(rich) ? { lamports: 1_500_000_000 } : null)),
})) as Chain['getAccounts'];
balanceRoute(app, { getAccounts });

it.each([
  [rich.toBase58(), 200, /^1500000000$/],
  [Keypair.generate().publicKey.toBase58(), 200, /^0$/],
  ['not-a-wallet', 404, /This is not the address of a wallet\./],
])('the balance of %s is answered with %s and %s [SVC-23]', async (wallet, status, body) => {
  const answer = await app.inject(`/balances/${wallet}`);
  expect(answer.statusCode).toBe(status);
  expect(answer.body).toMatch(body);
});
