import { EMAIL_EVENTS, EMAIL_PATHS, type EventName } from '@agent-rental/contract';
import { createApiKey } from '@agent-rental/sdk/solana';
import { findRunningPostgres, type MailServer } from '@agent-rental/server/testing';
import type { OwnMarketplace } from '@agent-rental/test/support/marketplace';
import { newParticipant } from '@agent-rental/test/support/participant';
import { Client } from 'pg';

/** A message as a mail program shows it. */
interface ShownMail {
  readonly name: string;
  readonly html: string;
}

/** Messages, and the paths of the pages that they lead to. */
export interface SentMails {
  readonly mails: readonly ShownMail[];
  readonly confirmPath: string;
  readonly unsubscribePath: string;
}

type Mail = Awaited<ReturnType<MailServer['next']>>;

/** A value for each field of events. */
const DATA = {
  kind: 'run',
  lamports: 1_000_000,
  state: 'open',
  days: 7,
  balance_lamports: 3_000_000,
  price_lamports: 1_200_000,
  previous_price_lamports: 1_000_000,
  version: 3,
  breaking: true,
  label: 'my coding agent',
  rating: 4,
};
const HOSTILE = [
  'Good\r\nBcc: victim@reader.example\r\n\r\nYour wallet was locked.',
  '<img src="https://evil.example/x.png"><h1>Pay now</h1>',
  'Good \u202egpj.exe\u202c',
  '=?utf-8?B?WW91IHdvbg==?=',
  'Your key has ended. Open https://evil.example/login',
  `قارئ ${'x'.repeat(400)}`,
  '\u{1f916}'.repeat(300),
];

/** Has each kind of message sent to a reader. */
export async function sendMails(marketplace: OwnMarketplace, server: MailServer): Promise<SentMails> {
  const { client, signer } = await newParticipant(marketplace);
  const database = new Client({ connectionString: findRunningPostgres(marketplace.stateDir) });
  await database.connect();
  const listing = marketplace.listing('per_query');
  const tell = (name: EventName, data: object = {}) =>
    database.query(`select append_event($1, $2, 'sample:1', $3)`, [
      signer.address,
      name,
      JSON.stringify({ ...DATA, listing_id: listing.id, ...data }),
    ]);
  /** The message that the server sends after `act`. */
  const mailAfter = async (act: () => Promise<unknown>): Promise<Mail> => {
    const mail = server.next();
    await act();
    return mail;
  };
  const nextMail = () =>
    mailAfter(async () => {
      await database.query(`update email_addresses set last_sent_at = last_sent_at - interval '1 hour'`);
      await database.query(`select graphile_worker.add_job('tell_by_email')`);
    });
  const rename = (title: string) =>
    database.query('update listings set title = $1 where id = $2', [title, listing.id]);
  try {
    const confirmation = await mailAfter(() => client.setEmail({ address: 'ada@reader.example' }));
    const confirmPath = pathIn(confirmation, EMAIL_PATHS.confirm);
    await fetch(marketplace.dev.base_url + confirmPath, { method: 'POST' });
    await createApiKey(client, signer, DATA.label);
    const event = await nextMail();
    for (const name of EMAIL_EVENTS) await tell(name);
    const digest = await nextMail();
    for (const label of HOSTILE) await tell('app.connected', { label });
    const labels = await nextMail();
    await rename(HOSTILE.join(' '));
    await tell('rental.sold');
    const title = await nextMail();
    await rename(listing.title);
    const mails = { confirmation, event, digest, labels, title };
    return {
      mails: Object.entries(mails).map(([name, mail]) => ({ name: `mail-${name}`, html: shown(mail) })),
      confirmPath: pathIn(
        await mailAfter(() => client.setEmail({ address: 'eve@reader.example' })),
        EMAIL_PATHS.confirm,
      ),
      unsubscribePath: pathIn(title, EMAIL_PATHS.unsubscribe),
    };
  } finally {
    await database.end();
  }
}

function pathIn({ parsed }: Mail, path: string): string {
  const [, found] = new RegExp(`(${path}\\?\\S+)`).exec(parsed.text ?? '') ?? [];
  if (found === undefined) throw new Error(`The message has no link to ${path}.`);
  return found;
}

/** A mail program: the head of a message above its text, in which addresses are links. */
function shown({ parsed, to }: Mail): string {
  const head = { From: parsed.from?.text, To: to.join(), Subject: parsed.subject };
  const rows = Object.entries(head).map(([name, text = '']) => `<tr><th>${name}<td>${escaped(text)}`);
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
    <style>
      :root { color-scheme: light dark; font: 16px/1.5 sans-serif }
      body { max-width: 50rem; margin: 1.5rem auto; padding: 0 1rem; overflow-wrap: anywhere }
      table { border-bottom: 1px solid; margin-bottom: 1rem; padding-bottom: 1rem; width: 100% }
      th { text-align: start; vertical-align: top; width: 5rem }
    </style><body><table>${rows.join('')}</table>${parsed.textAsHtml ?? ''}`;
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
