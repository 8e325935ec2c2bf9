import { OPERATOR_REASON_CHARACTERS, type OperatorDecision } from '@agent-rental/contract';
import { decideAsOperator } from '@agent-rental/sdk/solana';
import { buttonOf, element } from '../markup.js';
import { say, work, type Session } from '../wallets.js';

/** The console for a logged-in operator. */
export interface Console {
  readonly root: HTMLElement;
  readonly session: Session;
  /** Whether the wallet is the program's admin. */
  readonly isAdmin: boolean;
  /** Shows everything anew, after a decision. */
  refresh(): Promise<void>;
}

/** A button that has the wallet sign a decision about something. */
export function decisionButton(
  { root, session, refresh }: Console,
  { verb, subject, decision }: { verb: string; subject: string; decision: () => OperatorDecision },
): HTMLButtonElement {
  const button = buttonOf(verb, () =>
    work(root, 'Nothing was decided.', async () => {
      const made = decision();
      say(root, `${session.name} asks you to sign the decision. It pays nothing.`);
      await decideAsOperator(session.client, session.signer, made);
      await refresh();
      say(root, `${subject}: the decision is stored.`);
    }),
  );
  button.setAttribute('aria-label', `${verb} ${subject}`);
  return button;
}

/** A field for the reason of a decision. `read` throws where it is empty. */
export function reasonField(label: string, hint: string): { field: HTMLElement; read: () => string } {
  const field = element('textarea', {
    'aria-label': label,
    placeholder: hint,
    maxlength: String(OPERATOR_REASON_CHARACTERS),
    rows: '2',
  });
  return {
    field,
    read: () => {
      const reason = field.value.trim();
      if (reason === '') throw new Error('Give the reason: it is kept on record.');
      return reason;
    },
  };
}
