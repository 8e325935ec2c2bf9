import { BALANCE_PATH, walletAddress } from '@agent-rental/contract';
import { PublicKey } from '@solana/web3.js';
import type { FastifyInstance } from 'fastify';
import type { Chain } from '../chain/index.js';
import { ApiError } from '../errors/api-error.js';

/** Tells the SOL of a wallet, which is public on the chain: the pages reach this service alone. */
export function balanceRoute(app: FastifyInstance, { getAccounts }: Pick<Chain, 'getAccounts'>): void {
  app.get<{ Params: { wallet: string } }>(
    BALANCE_PATH,
    { config: { auth: 'none' } },
    async ({ params }, reply) => {
      const wallet = walletAddress.safeParse(params.wallet);
      if (!wallet.success) throw new ApiError('not_found', 'This is not the address of a wallet.');
      const { accounts } = await getAccounts([new PublicKey(wallet.data)]);
      return reply
        .header('cache-control', 'no-store')
        .type('text/plain; charset=utf-8')
        .send(String(accounts[0]?.lamports ?? 0));
    },
  );
}
