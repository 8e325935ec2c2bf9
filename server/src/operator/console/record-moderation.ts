import type { OperatorDecision } from '@agent-rental/contract';
import { decodeEvents, findListingAddress } from '@agent-rental/program-client';
import type { Chain } from '../../chain/index.js';
import type { Db } from '../../database/connection.js';
import { ApiError } from '../../errors/api-error.js';
import { actionsAbout, recordAction } from '../../moderation/index.js';

const LAST_ACTIONS = 100;

/** Puts a take-down or its end on record, once its transaction has landed. A repetition adds nothing. @throws ApiError where it did not land */
export async function recordModeration(
  db: Db,
  chain: Pick<Chain, 'programId' | 'statuses' | 'logsOf'>,
  decision: Extract<OperatorDecision, { transaction: string }>,
  operator: string,
): Promise<void> {
  const { listing_id: subject, reason, transaction: signature } = decision;
  const suspended = decision.action === 'take_down';
  const [status] = await chain.statuses([signature], true);
  const hasLanded = status?.err === null && status.confirmationStatus !== 'processed';
  const events = hasLanded ? decodeEvents(await chain.logsOf(signature), chain.programId) : [];
  const { address } = findListingAddress(subject, chain.programId);
  const isIt = events.some(
    ({ name, data }) =>
      name === 'ListingModerated' && data.listing.equals(address) && data.suspended === suspended,
  );
  if (!isIt) {
    throw new ApiError(
      'invalid_request',
      'transaction: no landed transaction with this signature does that.',
    );
  }
  const known = await actionsAbout(db, subject, LAST_ACTIONS);
  if (known.some((made) => made.signature === signature)) return;
  await recordAction(db, {
    action: suspended ? 'take-down' : 'restore',
    subject,
    reason,
    operator,
    signature,
  });
}
