import type { Call } from '../call.js';
import type { Verdict } from '../errors.js';
import type { InstructionName } from '../instruction-table.js';
import { revokeAccess, revokePerQueryAccess, verifyAccess } from './access.js';
import { closeListing, createListing, updateListing, withdrawEarnings } from './listing.js';
import { consumeQueries, consumeQuery } from './charges.js';
import { purchasePerQuery, topupBalance } from './per-query.js';
import { initializeProtocol, updateProtocol } from './protocol.js';
import { purchaseOneTime, purchaseSubscription, renewSubscription } from './sale.js';

/** What each instruction does once its accounts are in order: the change of the draft, or the refusal. */
export const RULES: Record<InstructionName, (call: Call) => Verdict> = {
  initialize_protocol: initializeProtocol,
  update_protocol: updateProtocol,
  create_listing: createListing,
  update_listing: updateListing,
  close_listing: closeListing,
  purchase_one_time: purchaseOneTime,
  purchase_subscription: purchaseSubscription,
  purchase_per_query: purchasePerQuery,
  renew_subscription: renewSubscription,
  topup_balance: topupBalance,
  consume_query: consumeQuery,
  consume_queries: consumeQueries,
  revoke_access: revokeAccess,
  revoke_per_query_access: revokePerQueryAccess,
  withdraw_earnings: withdrawEarnings,
  verify_access: verifyAccess,
};
