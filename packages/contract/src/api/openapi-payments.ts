import type { Schema } from './openapi-schemas.js';
import type { Operation } from './operation.js';

/** The prices of calls that are paid for in their request, for clients that look for paid services. */
export function paymentInfo({ payment }: Operation): Schema {
  if (payment !== 'this call') return {};
  const offer = {
    intent: 'charge',
    method: 'solana',
    currency: 'sol',
    amount: null,
    description:
      'The `price_lamports` of a Per-Task agent, and with the first payment its deposit and rent. The challenge of a 402 has the amount, and its worth in USDC by x402 where that is taken.',
  };
  return { 'x-payment-info': { offers: [offer] } };
}

/** The answer that asks for a payment, or refuses one. */
export function paymentRequired({ payment }: Operation, headers: Schema, errorSchema: Schema): Schema {
  if (payment !== 'this call') return {};
  const text = { type: 'string' };
  const properties = { type: text, title: text, status: { type: 'integer' }, detail: text };
  const problem = { type: 'object', required: Object.keys(properties), properties };
  return {
    402: {
      description:
        'The call is not paid for, or its payment is refused. `WWW-Authenticate` has a challenge of the Machine Payments Protocol. ' +
        '`PAYMENT-REQUIRED` asks for USDC by x402, where that is taken.',
      headers: {
        ...headers,
        'WWW-Authenticate': { schema: text },
        'PAYMENT-REQUIRED': { schema: text },
      },
      content: { 'application/problem+json': { schema: { allOf: [problem, errorSchema] } } },
    },
  };
}
