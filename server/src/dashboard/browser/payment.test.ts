import { describe, expect, it } from 'vitest';
import { readPayment } from './payment.js';

const DATA = {
  listing: 'clerk-aaaaaa',
  model: 'per_query',
  price: '250000',
  minDeposit: '1000000',
  chain: 'solana:devnet',
};

describe('the payment data of a page', () => {
  it('is read with the typed deposit, in lamports [SVC-19]', () => {
    expect(readPayment(DATA, { deposit: '0.0123' })).toMatchObject({
      listingId: 'clerk-aaaaaa',
      model: 'per_query',
      priceLamports: 250_000,
      depositLamports: 12_300_000,
      chain: 'solana:devnet',
    });
  });

  it.each(['', ' ', 'a lot', '-1', 'Infinity', '1e30', '0.0000001'])('refuses the deposit %j', (deposit) => {
    expect(() => readPayment(DATA, { deposit })).toThrow(/amount of SOL|deposit is at least/);
  });

  it('takes the price of the window that was chosen, and no window that is not sold [SVC-19]', () => {
    const data = { ...DATA, model: 'subscription' };
    const window = { seconds: '7776000', priceLamports: '750000' };
    expect(readPayment(data, { window })).toMatchObject({
      durationSeconds: 7_776_000,
      priceLamports: 750_000,
    });
    expect(readPayment(data, { window: { ...window, seconds: '1' } }).durationSeconds).toBe(2_592_000);
    expect(() => readPayment({ ...DATA, model: 'gift' }, {})).toThrow();
  });
});
