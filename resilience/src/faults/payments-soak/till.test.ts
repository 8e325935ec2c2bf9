import { pause } from '@agent-rental/sdk/solana';
import { sellAgent } from '@agent-rental/test/support/agents/market-agents';
import { IS_QUICK } from '@agent-rental/test/support/form';
import { newParticipant } from '@agent-rental/test/support/participant';
import { usdcOf } from '@agent-rental/test/support/pay-per-call/x402-client';
import { until } from '@agent-rental/test/support/timing/until';
import { expect, test } from 'vitest';
import { FaultMarket, RUN_PRICE } from '../world/market.js';
import { GRANTED_UNITS, Payer } from '../paid-calls/payer.js';

test.skipIf(IS_QUICK)(
  'a payment in USDC goes back in USDC, less the fee of that, where the listing is paused after it landed',
  { timeout: 120_000 },
  () =>
    FaultMarket.use(
      async (market) => {
        const creator = await newParticipant(market.served);
        const listing = { price_lamports: Number(RUN_PRICE) };
        const sold = await sellAgent(creator, 'connected', market.agent.url, { name: 'paused', listing });
        const payer = new Payer(market, { ...sold, versionId: '' }, 1);
        await payer.begin();
        const asked = await payer.send();
        const headers = asked && (await payer.pay(asked));
        let simulated = 0;
        market.rpc.misbehave(async ({ method, ask }) => {
          // The first is of the payer's transaction, and the second of the till's.
          if (method === 'simulateTransaction' && (simulated += 1) === 2) {
            await pause(creator.client, creator.signer, sold.id);
          }
          return { text: await ask() };
        });
        const answer = await payer.send(headers);
        expect(answer?.status).toBe(404);
        const [row] = await market.query<Record<'lamports' | 'units' | 'transfer_units', string>>(
          `select * from payments where state = 'refunded'`,
        );
        const [lamports, units] = [BigInt(row?.lamports ?? 0), BigInt(row?.units ?? 0)];
        const back = (units * (lamports - 5_000n)) / lamports;
        expect(BigInt(row?.transfer_units ?? 0)).toBe(back);
        const wallet = payer.wallet.publicKey.toBase58();
        expect(await usdcOf(market.chain.rpcUrl, wallet)).toBe(GRANTED_UNITS - units + back);
      },
      undefined,
      { USDC_RATE: '150' },
    ),
);

test.skipIf(IS_QUICK)(
  'no USDC is taken beyond the float, also by payments at once, and soon none is asked for',
  { timeout: 120_000 },
  () =>
    FaultMarket.use(
      async (market) => {
        const [listing] = await market.publish(1);
        if (!listing) throw new Error('There is no listing.');
        const payers = [1, 2].map((number) => new Payer(market, listing, number));
        const paid = await Promise.all(
          payers.map(async (payer) => {
            await payer.begin();
            const asked = await payer.send();
            return asked && payer.pay(asked);
          }),
        );
        const answers = await Promise.all(payers.map((payer, index) => payer.send(paid[index])));
        expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([200, 503]));
        const late = answers.findIndex((answer) => answer?.status === 503);
        const [second, refused] = [payers[late], answers[late]];
        expect([refused?.status, refused?.body]).toMatchObject([
          503,
          {
            error: {
              code: 'service_unavailable',
              reason: 'The marketplace takes no USDC now. Nothing was taken.',
            },
          },
        ]);
        const wallet = second?.wallet.publicKey.toBase58() ?? '';
        expect(await usdcOf(market.chain.rpcUrl, wallet)).toBe(GRANTED_UNITS);
        // The till counts anew every 10 s.
        const asked = await until(async () => {
          const answer = await second?.send();
          return answer?.headers.has('payment-required') ? undefined : answer;
        }, 30_000);
        expect(asked?.status).toBe(402);
        expect(asked?.headers.get('www-authenticate')).toContain('Payment ');
      },
      undefined,
      // More than one payment is worth, and less than two.
      { USDC_RATE: '150', USDC_FLOAT_LAMPORTS: '6000000' },
    ),
);
