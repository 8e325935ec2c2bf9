import { decideAsOperator, moderate } from '@agent-rental/sdk/solana';
import { buttonOf, element } from '../markup.js';
import { announced } from '../signing.js';
import { say, work } from '../wallets.js';
import type { Console } from './decisions.js';

/**
 * The way to take a listing down, or to restore it: a button for the admin's wallet, the command for any other.
 *
 * @param read the reason of the decision
 */
export function moderationPart(
  { root, session, isAdmin, refresh }: Console,
  { id, status, read }: { id: string; status: string; read: () => string },
): HTMLElement | string {
  const suspended = status !== 'suspended';
  if (status !== 'active' && status !== 'paused' && suspended) return '';
  if (!isAdmin) {
    const command = `npm run operator -- ${suspended ? 'take-down' : 'restore'} ${id} --reason TEXT --keypair FILE`;
    return element('p', {}, 'The admin alone signs this: ', element('code', {}, command));
  }
  const verb = suspended ? 'Take down' : 'Restore';
  /** The signature of the landed transaction, whose reason is not on record yet. */
  let landed: string | undefined;
  const button = buttonOf(verb, () =>
    work(root, 'The decision is not on record. Press again.', async () => {
      const reason = read();
      const effect = suspended ? `${id} runs and sells nothing.` : `${id} is paused, which its creator ends.`;
      landed ??= (
        await moderate(session.client, session.signer, id, { suspended }, announced(root, session, effect))
      ).signature;
      say(root, `${session.name} asks you to sign the reason. It pays nothing.`);
      const action = suspended ? 'take_down' : 'restore';
      const decision = { action, listing_id: id, reason, transaction: landed } as const;
      await decideAsOperator(session.client, session.signer, decision);
      await refresh();
      say(root, `${id}: the decision is stored.`);
    }),
  );
  button.setAttribute('aria-label', `${verb} ${id}`);
  return button;
}
