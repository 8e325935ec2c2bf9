import { randomUUID } from 'node:crypto';
import { EMAIL_EVENTS, EVENT_NAMES, EVENTS, type EventName } from '@agent-rental/contract';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrateJobs, startJobs } from '../../jobs/jobs.js';
import { deriveKeys } from '../../platform/keys.js';
import { createLogger } from '../../platform/logger.js';
import {
  insertListing,
  newWallet,
  openTestDatabase,
  startMailServer,
  type MailServer,
  type TemporaryDatabase,
} from '../../testing/index.js';
import { appendEvent } from '../append-event.js';
import { createEmailAddresses, removeOldConfirmations, type EmailAddresses } from './addresses.js';
import { createMailer } from './mailer.js';
import { createTellByEmail, EMAIL_TASK, type TellByEmail } from './tell-by-email.js';

const baseUrl = () => 'https://market.example';
const keys = deriveKeys(Buffer.alloc(32, 7));

let database: TemporaryDatabase;
let mail: MailServer;
let addresses: EmailAddresses;
let sender: TellByEmail;
let wallet: string;
let address: string;

beforeAll(async () => {
  database = await openTestDatabase();
  await migrateJobs(database.pool);
  mail = await startMailServer();
  const deps = {
    db: database.db,
    keys,
    mailer: createMailer({ url: mail.url, from: 'Market <no-reply@market.example>' }),
    baseUrl,
  };
  addresses = createEmailAddresses(deps);
  sender = createTellByEmail(deps);
});
afterAll(async () => {
  await mail.close();
  await database.close();
});
beforeEach(() => {
  wallet = newWallet();
  address = `${randomUUID()}@reader.example`;
});

const mails = (to = address) => mail.mails.filter((each) => each.to.includes(to));
const last = (to = address) => mails(to).at(-1);
/** The token in the link of the last message. */
const tokenIn = (to = address) => /token=([\w-]{43})/.exec(last(to)?.parsed.text ?? '')?.[1] ?? '';
const set = (events?: EventName[], to = address) =>
  addresses.set({ wallet, network: undefined }, { address: to, ...(events ? { events } : {}) });
async function subscribe(events?: EventName[]): Promise<void> {
  await set(events);
  expect(await addresses.confirm(tokenIn())).toBe(true);
}
const happen = (name: EventName, data: object, receiver = wallet) =>
  database.db
    .transaction()
    .execute((tx) =>
      appendEvent(tx, { wallet: receiver, name, subject: 'test:1', data: EVENTS[name].data.parse(data) }),
    );
const newKey = (label: string) => happen('key.created', { key_id: randomUUID(), label, scopes: ['run'] });
const quietTimePasses = () =>
  sql`update email_addresses set last_sent_at = last_sent_at - interval '15 minutes' where wallet = ${wallet}`.execute(
    database.db,
  );
const queued = async () => {
  await sender.queueDue();
  const { rows } = await sql`select from graphile_worker.jobs where key = ${`email:${wallet}`}`.execute(
    database.db,
  );
  return rows.length;
};

describe('an address', () => {
  it('hears of events from its confirmation on, and of none before [EVT-9]', async () => {
    expect(await addresses.settings(wallet)).toEqual({ configured: true, confirmed: false });
    await newKey('before');
    expect(await set()).toEqual({ configured: true, confirmed: false, address });
    await newKey('unconfirmed');
    expect(await queued()).toBe(0);
    await sender.tell(wallet);
    expect(mails()).toHaveLength(1);
    expect(last()?.parsed.text).toContain(wallet);
    expect(await addresses.confirm(tokenIn())).toBe(true);
    await sender.tell(wallet);
    expect(mails()).toHaveLength(1);
    await newKey('after');
    expect(await queued()).toBe(1);
    await sender.tell(wallet);
    expect(last()?.parsed.subject).toBe('Your wallet has a new API key: \u201cafter\u201d.');
    expect(last()?.parsed.text).not.toMatch(/before|unconfirmed/);
  });

  it('is confirmed once, by its own token, within a day, and for its own wallet', async () => {
    await set();
    const token = tokenIn();
    expect(await addresses.confirm('x'.repeat(43))).toBe(false);
    expect(await addresses.confirm(token, newWallet())).toBe(false);
    await sql`update email_addresses set confirm_until = now() where wallet = ${wallet}`.execute(database.db);
    expect(await addresses.confirm(token)).toBe(false);
    await set();
    expect(await addresses.confirm(token)).toBe(false);
    expect(await addresses.confirm(tokenIn(), wallet)).toBe(true);
    expect(await addresses.confirm(tokenIn())).toBe(false);
  });

  it('that is confirmed stays so when its events change, and not when it changes', async () => {
    await subscribe();
    expect(await set(['run.completed'])).toMatchObject({ confirmed: true, events: ['run.completed'] });
    expect(mails()).toHaveLength(1);
    const other = `${randomUUID()}@reader.example`;
    expect(await set(undefined, other)).toEqual({ configured: true, confirmed: false, address: other });
    await newKey('secret');
    await sender.tell(wallet);
    expect([mails().length, mails(other).length]).toEqual([1, 1]);
  });

  it('is sealed, and nothing of it is in the database in clear [EVT-9]', async () => {
    await subscribe();
    const { rows } = await sql<{ text: string }>`
      select row_to_json(a)::text || coalesce((select string_agg(row_to_json(c)::text, '') from email_confirmations c), '')
        as text from email_addresses a where wallet = ${wallet}`.execute(database.db);
    expect(rows[0]?.text).not.toContain(address);
    expect(rows[0]?.text).not.toContain(Buffer.from(address).toString('hex'));
  });

  it('gets at most 5 confirmations a day: of a wallet, and of all wallets together', async () => {
    for (let count = 0; count < 5; count += 1) await set();
    await expect(set(undefined, `${randomUUID()}@reader.example`)).rejects.toMatchObject({ status: 429 });
    wallet = newWallet();
    await expect(set(undefined, address.toUpperCase())).rejects.toMatchObject({ status: 429 });
    expect(mails()).toHaveLength(5);
    await sql`update email_confirmations set sent_at = now() - interval '25 hours'`.execute(database.db);
    await removeOldConfirmations(database.db);
    await set();
    expect(mails()).toHaveLength(6);
  });

  it('is unsubscribed by the token of any message, and forgotten', async () => {
    await subscribe();
    await newKey('one');
    await sender.tell(wallet);
    const link = `https://market.example/email/unsubscribe?token=${tokenIn()}`;
    expect(last()?.parsed.text).toContain(link);
    expect(last()?.raw).toMatch(new RegExp(`^List-Unsubscribe:\\s+<${link.replace('?', '\\?')}>\r$`, 'im'));
    expect(last()?.raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/im);
    await addresses.unsubscribe('x'.repeat(43));
    expect(await addresses.settings(wallet)).toMatchObject({ confirmed: true });
    await addresses.unsubscribe(tokenIn());
    expect(await addresses.settings(wallet)).toEqual({ configured: true, confirmed: false });
    await quietTimePasses();
    await newKey('two');
    await sender.tell(wallet);
    expect(mails()).toHaveLength(2);
  });

  it('is refused in clear words where there is no mail server', async () => {
    const without = createEmailAddresses({ db: database.db, keys, mailer: undefined, baseUrl });
    expect(await without.settings(wallet)).toEqual({ configured: false, confirmed: false });
    await expect(without.set({ wallet, network: undefined }, { address })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('SMTP_URL') as string,
    });
  });

  it('that the mail server refuses is in no error', async () => {
    mail.refusal = { code: 550, words: 'No such reader here:' };
    const error = await set().catch((thrown: unknown) => thrown);
    mail.refusal = undefined;
    expect(error).toMatchObject({ code: 'service_unavailable' });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(address);
    expect(String((error as Error).cause)).toContain(': The mail server took no message: EENVELOPE, 550.');
  });
});

describe('a message', () => {
  it('tells the first event after a quiet time alone, and all others 15 minutes later together', async () => {
    await subscribe();
    await newKey('first');
    await sender.tell(wallet);
    for (let count = 1; count <= 60; count += 1) await newKey(`key ${count}.`);
    expect(await queued()).toBe(0);
    await sender.tell(wallet);
    expect(mails()).toHaveLength(2);
    await quietTimePasses();
    expect(await queued()).toBe(1);
    await sender.tell(wallet);
    await sender.tell(wallet);
    expect(mails()).toHaveLength(3);
    expect(last()?.parsed.subject).toBe('60 events of your wallet');
    const text = last()?.parsed.text ?? '';
    expect(text.match(/UTC: Your wallet has a new API key/g)).toHaveLength(50);
    expect(text).toMatch(/key 1\.[^]*key 50\.[^]*and 10 more/);
    expect(text).not.toContain('key 51.');
  });

  it('has the events that its reader chose, and by default no end of a run', async () => {
    const listing = await insertListing(database.db);
    const data = { run_id: randomUUID(), listing_id: listing.id, status: 'completed' };
    await subscribe();
    await happen('run.completed', data);
    expect(await queued()).toBe(1);
    await sender.tell(wallet);
    expect(mails()).toHaveLength(1);
    // An event that was left out is not looked at again.
    await sql`delete from graphile_worker._private_jobs`.execute(database.db);
    expect(await queued()).toBe(0);
    await set(['run.completed']);
    await happen('run.completed', data);
    await newKey('not chosen');
    await sender.tell(wallet);
    expect(last()?.parsed.subject).toBe('A run of \u201cTest agent\u201d has a result.');
    expect(EMAIL_EVENTS.every((name) => EVENT_NAMES.includes(name))).toBe(true);
  });

  it('comes again where its sender was killed before it noted that it was sent, and is never left out', async () => {
    await subscribe();
    await newKey('kept');
    const killed = createTellByEmail({
      db: database.db,
      keys,
      // The server has taken the message, and the process is gone.
      mailer: { send: () => Promise.reject(new Error('killed')) },
      baseUrl,
    });
    await expect(killed.tell(wallet)).rejects.toThrow('killed');
    expect(await queued()).toBe(1);
    await sender.tell(wallet);
    expect(last()?.parsed.subject).toContain('kept');
  });

  it('that fails waits longer and longer, and is queued once beside that', async () => {
    await subscribe();
    await newKey('late');
    expect(await queued()).toBe(1);
    await sql`update graphile_worker._private_jobs set attempts = 3, run_at = now() + interval '1 hour'
      where key = ${`email:${wallet}`}`.execute(database.db);
    expect(await queued()).toBe(1);
    const { rows } =
      await sql`select attempts from graphile_worker.jobs where key = ${`email:${wallet}`}`.execute(
        database.db,
      );
    expect(rows).toEqual([{ attempts: 3 }]);
  });

  it('is sent once by two senders at the same time, and by the task of its wallet', async () => {
    await subscribe();
    await newKey('one');
    const came = mail.next();
    const jobs = await startJobs(
      database.pool,
      { [EMAIL_TASK]: (payload) => sender.tell((payload as { wallet: string }).wallet) },
      createLogger('silent'),
    );
    await sender.queueDue();
    await Promise.all([sender.tell(wallet), sender.tell(wallet), came]);
    await jobs.stop();
    expect(mails()).toHaveLength(2);
  });
});

describe('a mail server that refuses an address', () => {
  const refuse = async (code: number, words: string) => {
    await subscribe();
    await newKey('lost');
    mail.refusal = { code, words };
    try {
      await sender.tell(wallet);
    } finally {
      mail.refusal = undefined;
    }
  };
  const toldOfRefusal = async () => {
    const { rows } =
      await sql`select from events where wallet = ${wallet} and name = 'email.refused'`.execute(database.db);
    return rows.length;
  };

  it.each([
    [550, 'No such reader:'],
    [550, '5.1.1 No such reader:'],
    [556, '5.1.10 Takes no mail:'],
    [550, '5.2.1 Disabled:'],
  ])('permanently ends the messages, and tells the wallet: %i %s', async (code, words) => {
    await refuse(code, words);
    expect(await addresses.settings(wallet)).toEqual({
      configured: true,
      address,
      confirmed: false,
      refused_at: expect.any(String) as string,
    });
    expect(await toldOfRefusal()).toBe(1);
    expect(await queued()).toBe(0);
    await sender.tell(wallet);
    expect(mails()).toHaveLength(1);
    // The same address again is confirmed anew.
    expect(await set()).toEqual({ configured: true, address, confirmed: false });
    expect(await addresses.confirm(tokenIn())).toBe(true);
    await newKey('found');
    await sender.tell(wallet);
    expect(last()?.parsed.text).toContain('found');
  });

  it.each([
    [450, '4.2.0 Come later:'],
    [552, '5.2.2 The mailbox is full:'],
    [550, '5.7.1 Refused by a policy:'],
    [550, '5.1.8 The sender has no such domain:'],
    [554, 'No relay:'],
  ])('for a reason that may pass sends it later: %i %s', async (code, words) => {
    await expect(refuse(code, words)).rejects.toThrow(`${code}.`);
    expect(await toldOfRefusal()).toBe(0);
    await sender.tell(wallet);
    expect(last()?.parsed.text).toContain('lost');
  });
});

it('a message of one event has a link to its page, and names the wallet', async () => {
  await subscribe();
  const listing = await insertListing(database.db, { title: 'Clerk' });
  const approval = randomUUID();
  const data = { listing_id: listing.id, approval_id: approval, kind: 'run', lamports: 1_000, state: 'open' };
  await happen('approval.requested', data);
  await sender.tell(wallet);
  expect(last()?.parsed.subject).toBe('An API key asks to spend 0.000001 SOL on a run of \u201cClerk\u201d.');
  expect(last()?.parsed.text).toContain(`See it: https://market.example/dashboard/approvals/${approval}\n`);
  expect(last()?.parsed.text).toContain(`All events of ${wallet}:`);
});

describe('a title of a stranger', () => {
  it.each([
    ['a line break and a header', 'Good\r\nBcc: victim@reader.example\r\n\r\nBody'],
    ['a bare line feed', 'Good\nBcc: victim@reader.example'],
    ['a bare carriage return', 'Good\rBcc: victim@reader.example'],
    ['separators of Unicode', 'Good\u2028Bcc: victim@reader.example\u2029\u0085x'],
    ['control characters', 'Good\u0001\u001b[31m\u007fred'],
    ['reversed text', 'Good \u202egpj.exe\u202c \u2066x\u2069'],
    ['an encoded word', '=?utf-8?B?R29vZA0KQmNjOiB2aWN0aW1AcmVhZGVyLmV4YW1wbGU=?='],
    ['an encoded word with another letter', '=?utf-8?Q?=0D=0ABcc:_victim@reader.example?= \u00e9'],
    ['addresses', 'https://evil.example/login www.evil.example eve@evil.example'],
    ['quotation marks', 'Good\u201d was rented. Your wallet is locked. \u201c'],
    ['10,000 letters', 'x'.repeat(10_000)],
    ['10,000 wide letters', '\u{1f916}'.repeat(5_000)],
  ])('with %s stays text of one line [EVT-10]', async (_, title) => {
    await subscribe(['rental.sold']);
    const listing = await insertListing(database.db, { creator: wallet, title });
    await happen('rental.sold', {
      listing_id: listing.id,
      credential: newWallet(),
      rental_model: 'one_time',
    });
    await sender.tell(wallet);
    const { to, raw = '', parsed } = last() ?? {};
    expect(to).toEqual([address]);
    expect(parsed?.bcc).toBeUndefined();
    expect(parsed?.cc).toBeUndefined();
    const [head = ''] = raw.split('\r\n\r\n');
    expect(head).not.toMatch(/^(bcc|cc):/im);
    expect(head.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThan(998);
    expect(parsed?.subject).toMatch(/^Your agent \u201c[^\u201d]*\u201d was rented\.$/u);
    // A mail program makes links of the addresses of this marketplace alone.
    const links = [...(parsed?.textAsHtml ?? '').matchAll(/href="([^"]*)/g)].map(([, href]) => href);
    expect(links).toHaveLength(3);
    for (const link of links) expect(link).toMatch(/^https:\/\/market\.example\//);
    expect(parsed?.subject?.length).toBeLessThan(200);
    for (const text of [parsed?.subject ?? '', parsed?.text ?? ''])
      expect(text).not.toMatch(/[\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]|(?!\n)\p{Cc}/u);
    expect(parsed?.text?.split('\n').filter((line) => /was rented/.test(line))).toHaveLength(1);
  });
});
