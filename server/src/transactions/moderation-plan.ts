import type { TransactionRequestOf } from '@agent-rental/contract';
import { moderateListing } from '@agent-rental/program-client';
import { ApiError } from '../errors/api-error.js';
import type { Plan, PlanContext } from './plan.js';

/** Suspends a listing or lifts that. @throws ApiError for any wallet but the admin's, and where it changes nothing. */
export function moderatePlan(
  { wallet, state, admin, programId }: PlanContext,
  { suspended }: TransactionRequestOf<'moderate'>,
): Plan {
  const { listingId, status } = state.listing;
  if (!wallet.equals(admin)) {
    throw new ApiError('invalid_request', "The program's admin alone takes listings down and restores them.");
  }
  if (status === 'closed' || suspended === (status === 'suspended')) {
    throw new ApiError('invalid_request', `The listing is ${status} already.`);
  }
  return {
    instructions: [moderateListing({ admin, listingId, suspended, programId })],
    message: suspended ? `Take ${listingId} down` : `Lift the suspension of ${listingId}`,
  };
}
