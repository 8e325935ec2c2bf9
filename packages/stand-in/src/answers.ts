import {
  errorEnvelope,
  ERROR_STATUS,
  refusalMessage,
  type ErrorCode,
  type operations,
  type Refusal,
  type Run,
} from '@agent-rental/contract';
import type { StandInListing } from './listing.js';

/** The price of a listing, in lamports; 2,000,000 where it names none. */
export function priceLamports({ price_lamports = 2_000_000 }: StandInListing): number {
  return price_lamports;
}

/** A listing as the detail endpoint gives it. */
export function toListing(listing: StandInListing): unknown {
  const price = priceLamports(listing);
  return {
    id: listing.id,
    title: listing.title ?? listing.id,
    description: listing.description ?? 'Echoes its input.',
    category: ['finance'],
    rental_model: listing.rental_model ?? 'per_query',
    price_sol: price / 1e9,
    run_count: 3,
    success_rate: 1,
    creator: { id: '11111111111111111111111111111111', display_name: 'Creator', listing_count: 1 },
    rating: 4.5,
    review_count: 2,
    last_updated: '2026-01-01T00:00:00Z',
    sample_output: ['sample'],
    ...failingSince(listing),
    ...(listing.free_trial === undefined ? {} : { free_trial: listing.free_trial }),
    published_at: '2026-01-01T00:00:00Z',
    status: 'active',
    on_chain_address: 'address',
    metadata_uri: 'ipfs://manifest',
    price_lamports: price,
    min_deposit_lamports: listing.min_deposit_lamports ?? 10_000_000,
    input_schema: listing.input_schema ?? { type: 'object', properties: { text: { type: 'string' } } },
    output_schema: listing.output_schema ?? { type: 'object' },
    ...(listing.unverified_since === undefined ? {} : { unverified_since: listing.unverified_since }),
  };
}

const failingSince = ({ failing_since }: StandInListing) =>
  failing_since === undefined ? {} : { failing_since };

/** The listing in an answer about a credential. */
export function toRentedListing(listing: StandInListing): unknown {
  return {
    description: listing.description ?? 'Echoes its input.',
    price_lamports: priceLamports(listing),
    input_schema: listing.input_schema ?? { type: 'object', properties: { text: { type: 'string' } } },
    ...failingSince(listing),
  };
}

/** A receipt of a run; its signature is none. */
export function receiptOf(run: Run): unknown {
  return {
    receipt: {
      version: 1,
      run_id: run.run_id,
      wallet: '11111111111111111111111111111111',
      listing_id: run.agent_id,
      status: run.status,
      cost_lamports: run.cost_lamports,
      charge_signature: null,
      credited: false,
      network: 'localnet',
      fee_bps: 250,
      min_query_price_lamports: 200_000,
      program_id: '11111111111111111111111111111111',
      input_digest: null,
      output_digest: null,
      started_at: '2026-01-01T00:00:00Z',
      finished_at: '2026-01-01T00:00:01Z',
    },
    salt: '',
    jws: 'e30.e30.',
    log: { status: 'pending', expected_at: '2026-01-01T00:01:30Z' },
  };
}

/** A response that the contract accepts; anything else is a mistake in the test. */
export function json(operation: (typeof operations)[keyof typeof operations], value: unknown): Response {
  return Response.json(operation.response.parse(value), { headers: { 'x-request-id': 'req_stand_in' } });
}

/** An error as the API gives it. */
export function failure(code: ErrorCode, told: string | Refusal, retryAfterSeconds?: number): Response {
  const status = ERROR_STATUS[code];
  const refusal = typeof told === 'string' ? { reason: told } : told;
  const message = refusalMessage(refusal);
  const body = errorEnvelope.parse({
    error: {
      code,
      message,
      ...(message === refusal.reason ? {} : { reason: refusal.reason }),
      status,
      request_id: 'req_stand_in',
    },
  });
  const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  return Response.json(body, { status, headers });
}
