import type { TransactionRequest } from '@agent-rental/contract';
import { closePlan, pausePlan, resumePlan, revokePlan, updatePlan, withdrawPlan } from './creator-plans.js';
import { moderatePlan } from './moderation-plan.js';
import type { Plan, PlanContext } from './plan.js';
import { reclaimPlan, renewPlan, rentPlan, topupPlan } from './rental-plans.js';

/** An action on a listing that is on-chain. */
export type ListingActionRequest = Exclude<TransactionRequest, { action: 'publish' }>;

/** The wallet whose credential and balance an action is about: the one that signs, or the one that loses its rental. */
export function holderOf(wallet: string, request: ListingActionRequest): string {
  return request.action === 'revoke' ? request.buyer : wallet;
}

/** Plans an action. @throws ApiError when it makes no sense for that wallet and listing now. */
export function planOf(context: PlanContext, request: ListingActionRequest): Plan {
  switch (request.action) {
    case 'rent':
      return rentPlan(context, request);
    case 'renew':
      return renewPlan(context, request);
    case 'topup':
      return topupPlan(context, request);
    case 'reclaim':
      return reclaimPlan(context);
    case 'update':
      return updatePlan(context, request);
    case 'pause':
      return pausePlan(context);
    case 'resume':
      return resumePlan(context);
    case 'close':
      return closePlan(context);
    case 'withdraw':
      return withdrawPlan(context, request);
    case 'moderate':
      return moderatePlan(context, request);
    case 'revoke':
      return revokePlan(context, request);
    default:
      return request satisfies never;
  }
}
