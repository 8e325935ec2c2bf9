import { EMAIL_PATHS } from '@agent-rental/contract';
import { renderPage } from './page.js';

const WORDS = {
  confirm: {
    title: 'Confirm your e-mail address',
    text: 'Then messages tell this address of events of the wallet.',
    button: 'Confirm',
  },
  unsubscribe: {
    title: 'Get no more messages',
    text: 'The marketplace forgets your address, and tells you of events no more.',
    button: 'Unsubscribe',
  },
} as const;

/** The page that a message leads to. Its button acts, because programs that check mail follow links. */
export function emailPage(kind: keyof typeof WORDS, token: string): string {
  const { title, text, button } = WORDS[kind];
  return renderPage(
    { title, description: text },
    <>
      <h1>{title}</h1>
      <p>{text}</p>
      <form method="post" action={`${EMAIL_PATHS[kind]}?token=${token}`}>
        <button type="submit">{button}</button>
      </form>
    </>,
  );
}

/** The page after the button. */
export function emailDonePage(title: string): string {
  return renderPage({ title, description: title }, <h1>{title}</h1>);
}
