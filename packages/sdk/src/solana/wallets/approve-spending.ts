import { approvalMessage, type SpendingApproval } from '@agent-rental/contract';
import bs58 from 'bs58';
import { readChallenge } from '../../challenge.js';
import type { CallOptions, RentalClient } from '../../client.js';
import type { MessageSigner } from '../../login.js';

/**
 * Approves what an API key of the signer's wallet asks to spend: its same call then goes on, once, within 10 minutes. The client
 * has to be logged in with the wallet: an API key approves nothing.
 *
 * @param approval as it was shown to the person who approves: the wallet signs its amount and listing
 * @throws UntrustedChallengeError where the service gives something else than a challenge to sign
 */
export async function approveSpending(
  client: Pick<RentalClient, 'domain' | 'getChallenge' | 'answerApproval'>,
  signer: MessageSigner,
  approval: Pick<SpendingApproval, 'id' | 'kind' | 'lamports' | 'listing_id'>,
  options: CallOptions = {},
): Promise<SpendingApproval> {
  const { challenge } = await client.getChallenge(signer.address, options);
  // A challenge is numbers and letters: nothing that a server sends can look like another line of the message.
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
