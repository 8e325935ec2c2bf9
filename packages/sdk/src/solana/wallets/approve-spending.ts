import { approvalMessage, type SpendingApproval } from '@agent-rental/contract';
import bs58 from 'bs58';
import { readChallenge } from '../../challenge.js';
import type { CallOptions, RentalClient } from '../../client.js';
import type { MessageSigner } from '../../login.js';

/**
 * Approves a spend of an API key of the signer's wallet. The key can then repeat its call once, within 10 minutes. The client
 * must be logged in with the wallet: an API key cannot approve.
 *
 * @param approval the approval that the person saw: the wallet signs its amount and listing
 * @throws UntrustedChallengeError if the service's text is no challenge
 */
export async function approveSpending(
  client: Pick<RentalClient, 'domain' | 'getChallenge' | 'answerApproval'>,
  signer: MessageSigner,
  approval: Pick<SpendingApproval, 'id' | 'kind' | 'lamports' | 'listing_id'>,
  options: CallOptions = {},
): Promise<SpendingApproval> {
  const { challenge } = await client.getChallenge(signer.address, options);
  // A challenge has no line breaks: a server cannot add a line to the message.
  readChallenge(challenge);
  const { id, kind, lamports, listing_id } = approval;
  const spending = { id, kind, lamports, listing_id, service: client.domain, wallet: signer.address };
  const signature = await signer.signMessage(new TextEncoder().encode(approvalMessage(spending, challenge)));
  return client.answerApproval(
    id,
    { answer: 'approve', challenge, signature: bs58.encode(signature) },
    options,
  );
}
