import { IS_QUICK } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { BOTH_CURRENCIES } from '../paid-calls/paid-call.js';
import { GRANTED_UNITS, Payer } from '../paid-calls/payer.js';
import { FaultMarket } from '../world/market.js';

const MOST_IN_A_MINUTE = 3;
const OF_A_PAYMENT = ['simulateTransaction', 'sendTransaction', 'getSignatureStatuses'];

test.skipIf(IS_QUICK)(
  'payments of one address beyond its limit are refused before any call of the chain, and no other address is',
  { timeout: 120_000 },
  () =>
    FaultMarket.use(
      async (market) => {
        const [listing] = await market.publish(1);
        if (!listing) throw new Error('There is no listing.');
        const payer = new Payer(market, listing, 1);
        await payer.begin();
        const asked = await payer.send();
        const [right, wrong] = asked
          ? [
              await payer.pay(asked),
              await payer.pay(asked, (accepted) => ({
                ...accepted,
                amount: String(GRANTED_UNITS),
              })),
            ]
          : [];
        const calls: string[] = [];
        market.rpc.misbehave(async ({ method, ask }) => {
          calls.push(method);
          return { text: await ask() };
        });
        for (let sent = 0; sent < MOST_IN_A_MINUTE; sent += 1)
          expect((await payer.send(wrong))?.status).toBe(402);
        const refused = await payer.send(right);
        expect([refused?.status, refused?.body]).toMatchObject([
          429,
          { error: { code: 'rate_limit_exceeded' } },
        ]);
        expect(calls.filter((method) => OF_A_PAYMENT.includes(method))).toEqual([]);
        const elsewhere = await payer.send({ ...right, 'x-forwarded-for': '10.9.9.9' });
        expect(elsewhere?.status).toBe(200);
        expect(calls).toContain('sendTransaction');
      },
      undefined,
      { ...BOTH_CURRENCIES, EXECUTIONS_PER_MINUTE: String(MOST_IN_A_MINUTE) },
    ),
);
