import { purchaseSubscription, renewSubscription } from '@agent-rental/program-client';
import { createClient } from '@agent-rental/sdk';
import { createMarketplaceWallet, keypairSigner, renew, type DecodedQuote } from '@agent-rental/sdk/solana';
import { TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { expect, it, vi } from 'vitest';
import { Market, PRICE } from './market.js';
import { onEveryChain } from './on-every-chain.js';

const MONTH = 2_592_000;
const DAY = 86_400;
const TERMS = { duration_seconds: MONTH, max_price_lamports: Number(PRICE) } as const;

onEveryChain(Market.start, (at) => {
  /** A month's rental that began so many seconds ago, by the chain's clock. */
  async function rented(listingId: string, ago: number) {
    const market = at();
    await market.list(listingId, 'subscription');
    const window = {
      buyer: market.buyer.publicKey,
      treasury: market.treasury.publicKey,
      listingId,
      durationSeconds: MONTH,
      maxPriceLamports: PRICE,
    };
    await market.send(purchaseSubscription(window), market.buyer);
    await market.chain.passTime(BigInt(ago));
    const end = async () => Number((await market.credential(listingId)).expiresAt);
    const { connection } = market.chain;
    const balance = () => connection.getBalance(market.buyer.publicKey, 'confirmed');
    return { market, window, end, connection, balance, signer: keypairSigner(market.buyer) };
  }

  it('are refused by a wallet with an RPC endpoint alone, by the chain’s clock, and pay with `early` [TXN-24]', async () => {
    const { end, connection, balance, signer } = await rented('early-direct', 60);
    const wallet = createMarketplaceWallet({ connection, signer });
    const [before, first] = [await balance(), await end()];
    await expect(wallet.renew('early-direct', TERMS)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(
        /would add less than 1 of 30 days.*Renew from 20\d\d-\d\d-\d\d on, or send `early: true`/,
      ) as string,
    });
    expect(await balance()).toBe(before);
    let quote: DecodedQuote | undefined;
    const approve = (asked: DecodedQuote) => ((quote = asked), true);
    await wallet.renew('early-direct', { ...TERMS, early: true }, { approve });
    const added = (await end()) - first;
    expect(added).toBeGreaterThanOrEqual(59);
    expect(Math.abs((quote?.added_seconds ?? 0) - added)).toBeLessThan(30);
    expect(quote?.rent_lamports).toBe(0);
  });

  it('are paid without it once half of the window has passed, with the new end in the quote [TXN-24]', async () => {
    const { market, end, connection, signer } = await rented('half-direct', 16 * DAY);
    const wallet = createMarketplaceWallet({ connection, signer });
    const approve = vi.fn<(quote: DecodedQuote) => boolean>(() => true);
    await wallet.renew('half-direct', TERMS, { approve });
    const [quote] = approve.mock.calls[0] ?? [];
    expect(Math.floor((quote?.added_seconds ?? 0) / DAY)).toBe(16);
    expect(Math.abs(Date.parse(quote?.new_expires_at ?? '') / 1000 - (await end()))).toBeLessThan(30);
    expect(await end()).toBeGreaterThan(Number(await market.now()) + MONTH - 60);
  });

  it('are refused where the marketplace says that they add a whole window [TXN-24, TXN-16]', async () => {
    const { window, connection, signer, balance } = await rented('early-lie', 60);
    const proposal = async () => {
      const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
      const message = new TransactionMessage({
        payerKey: window.buyer,
        recentBlockhash: blockhash,
        instructions: [renewSubscription(window)],
      });
      const wire = new VersionedTransaction(message.compileToV0Message()).serialize();
      return {
        transaction: Buffer.from(wire).toString('base64'),
        message: 'Renew',
        chain: 'solana:localnet',
        payer: signer.address,
        blockhash,
        last_valid_block_height: lastValidBlockHeight,
        sign_within_seconds: 20,
        quote: {
          price_lamports: Number(PRICE),
          max_price_lamports: Number(PRICE),
          rent_lamports: 0,
          network_fee_lamports: 5_000,
          new_expires_at: '2030-01-01T00:00:00.000Z',
          added_seconds: MONTH,
        },
      };
    };
    const fetch = vi.fn(async () => Response.json(await proposal()));
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'ar_test', fetch });
    const signTransaction = vi.fn(signer.signTransaction);
    const before = await balance();
    await expect(
      renew(client, { ...signer, signTransaction }, 'early-lie', TERMS, { connection }),
    ).rejects.toThrow(/would add less than 1 of 30 days/);
    expect(signTransaction).not.toHaveBeenCalled();
    expect(await balance()).toBe(before);
  });
});
