import bs58 from 'bs58';
import { LAMPORTS_PER_SOL } from '@solana/web3.js';
import { paymentChallenge, paymentCredential, signPayment } from '@agent-rental/test/support/payments';
import { requiredBy, usdcOf } from '@agent-rental/test/support/pay-per-call/x402-client';
import { until } from '@agent-rental/test/support/timing/until';
import type { WayToWork } from '../world/agent.js';
import type { FaultMarket, Listing } from '../world/market.js';
import { Payer } from './payer.js';

const FUNDED_WITHIN_MS = 60_000;
/** The base fee and the priority fee of a payer's transaction in SOL. */
const PAYER_FEE_LAMPORTS = 5_001n;

/** A payment that is signed and not sent yet. */
export interface PaidCall {
  readonly wallet: Payer['wallet'];
  readonly listing: Listing;
  readonly request: ReturnType<Payer['request']>;
  /** Of its transaction, where the payer makes it. In USDC the server does. */
  readonly signature?: string;
  /** The cost of one payment for the wallet: lamports, or units of USDC. */
  readonly price: bigint;
  /** The worth of one payment to the marketplace. */
  readonly lamports: bigint;
  /** The money that has left the wallet so far, in the same. */
  spent(): Promise<bigint>;
}

export type Currency = 'sol' | 'usdc';

/** The settings of a market that takes both. */
export const BOTH_CURRENCIES = {
  USDC_RATE: '150',
  USDC_FLOAT_LAMPORTS: '90000000000',
  // Each payer has an address, because new payments are counted by it.
  TRUSTED_PROXIES: '127.0.0.1',
};

/** A new wallet with money, and its payment for one call. */
export async function newPaidCall(
  market: FaultMarket,
  listing: Listing,
  { number, currency, way }: { number: number; currency: Currency; way: WayToWork },
): Promise<PaidCall> {
  const payer = new Payer(market, listing, number, way);
  return currency === 'sol' ? inSol(market, listing, payer) : inUsdc(market, listing, payer);
}

async function inSol(market: FaultMarket, listing: Listing, payer: Payer): Promise<PaidCall> {
  const { wallet } = payer;
  await market.connection.requestAirdrop(wallet.publicKey, LAMPORTS_PER_SOL);
  const balance = async () => BigInt(await market.connection.getBalance(wallet.publicKey));
  const before = await until(async () => (await balance()) || undefined, FUNDED_WITHIN_MS);
  const challenge = paymentChallenge((await askedOf(payer)).headers);
  const transaction = signPayment(challenge, wallet);
  return {
    wallet,
    listing,
    request: payer.request({ authorization: paymentCredential(challenge, transaction) }),
    signature: bs58.encode(transaction.signatures[0] ?? []),
    price: challenge.amount + PAYER_FEE_LAMPORTS,
    lamports: challenge.amount,
    spent: async () => before - (await balance()),
  };
}

async function inUsdc(market: FaultMarket, listing: Listing, payer: Payer): Promise<PaidCall> {
  await payer.begin();
  const { wallet } = payer;
  const balance = () => usdcOf(market.chain.rpcUrl, wallet.publicKey.toBase58());
  const before = await balance();
  const asked = await askedOf(payer);
  const paid = await payer.pay(asked);
  if (!paid) throw new Error('No USDC is asked for.');
  return {
    wallet,
    listing,
    request: payer.request(paid),
    price: BigInt(requiredBy(asked).accepts[0]?.amount ?? 0),
    lamports: paymentChallenge(asked.headers).amount,
    spent: async () => before - (await balance()),
  };
}

async function askedOf(payer: Payer) {
  const asked = await payer.send();
  if (asked?.status !== 402) throw new Error(`The call was answered ${asked?.status}.`);
  return asked;
}
