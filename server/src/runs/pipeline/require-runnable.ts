import type { ExecuteBody } from '@agent-rental/contract';
import type { Owner } from '../../access/owner.js';
import type { PublishedListing } from '../../listings/index.js';
import { withValidInput, type AdmitDeps } from './admit.js';
import { parseOrder } from './order.js';
import { taskOf } from './parse.js';

/**
 * Refuses a request that no run of the listing would take, before its caller pays. The input of a file is not read.
 *
 * @throws ApiError `invalid_request`
 */
export async function requireRunnable(
  deps: Pick<AdmitDeps, 'readPublishedInput'>,
  owner: Owner,
  listing: PublishedListing,
  body: ExecuteBody,
): Promise<void> {
  const task = taskOf(parseOrder(owner, body, undefined), body, listing);
  if (task.inputUri === undefined) await withValidInput(deps, task);
}
