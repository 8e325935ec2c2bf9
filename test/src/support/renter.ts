import { Connection, Keypair, LAMPORTS_PER_SOL, PublicKey, VersionedTransaction } from '@solana/web3.js';
import { call, login } from './http.js';
import { until } from './timing/until.js';
import type { Dev, Marketplace } from './marketplace.js';

/** The addresses of a marketplace and of its chain, where a wallet gets SOL. */
export interface Market {
  readonly dev: Pick<Dev, 'base_url' | 'rpc_url'>;
}

/** A new wallet of a test, logged in. */
export interface Renter {
  wallet: Keypair;
  token: string;
}

/** Makes a wallet with SOL, which has rented nothing. */
export async function newRenter(market: Market, headers?: Record<string, string>): Promise<Renter> {
  const wallet = Keypair.generate();
  const connection = new Connection(market.dev.rpc_url, 'finalized');
  const signature = await connection.requestAirdrop(wallet.publicKey, LAMPORTS_PER_SOL);
  // `confirmed` with tower; `finalized` with Alpenglow, where it is the same.
  await until(async () => {
    const { value } = await connection.getSignatureStatus(signature);
    return value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized';
  });
  return { wallet, token: await login(market, wallet, headers) };
}

/** Rents by HTTP alone: the API proposes, the wallet signs, the API submits. */
export async function rentOverHttp(
  marketplace: Marketplace,
  { wallet, token }: Renter,
  model: Dev['listings'][number]['rental_model'],
): Promise<Record<string, unknown>> {
  const terms = {
    one_time: {},
    subscription: { duration_seconds: 2_592_000 },
    per_query: { deposit_lamports: 10_000_000 },
  }[model];
  const proposed = await call(marketplace, 'POST', '/v1/transactions', {
    token,
    body: { action: 'rent', listing_id: marketplace.listing(model).id, ...terms },
  });
  if (proposed.status !== 200) throw new Error(JSON.stringify(proposed.body));
  const transaction = VersionedTransaction.deserialize(
    Buffer.from(String(proposed.body['transaction']), 'base64'),
  );
  transaction.sign([wallet]);
  const submitted = await call(marketplace, 'POST', '/v1/transactions/submit', {
    token,
    body: { transaction: Buffer.from(transaction.serialize()).toString('base64') },
  });
  if (submitted.status !== 200) throw new Error(JSON.stringify(submitted.body));
  return submitted.body['credential'] as Record<string, unknown>;
}

/** The Per-Task balance as plain web3.js reads it: a `u64` after discriminator, version, bump and two keys. */
export async function balanceOnChain(marketplace: Marketplace, buyer: PublicKey): Promise<bigint> {
  const connection = new Connection(marketplace.dev.rpc_url, 'confirmed');
  const program = new PublicKey(marketplace.dev.program_id);
  const id = Buffer.from(marketplace.listing('per_query').id);
  const [listing] = PublicKey.findProgramAddressSync([Buffer.from('listing'), id], program);
  const seeds = [Buffer.from('per_query_balance'), buyer.toBuffer(), listing.toBuffer()];
  const account = await connection.getAccountInfo(PublicKey.findProgramAddressSync(seeds, program)[0]);
  if (!account) throw new Error('There is no balance account.');
  return account.data.readBigUInt64LE(8 + 1 + 1 + 32 + 32);
}
