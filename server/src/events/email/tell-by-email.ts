import { EMAIL_EVENTS, EMAIL_EVERY_MINUTES, EMAIL_MOST_EVENTS, type EventName } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Tx } from '../../database/connection.js';
import { appendEvent } from '../append-event.js';
import { openContact, type EmailDeps } from './addresses.js';
import { RefusedAddressError, type Mailer } from './mailer.js';
import { digest, type ToldEvent } from './messages.js';

/** The task that looks for wallets with events to tell. */
export const EMAIL_ROUND_TASK = 'tell_by_email';
/** The task that sends the message of one wallet. */
export const EMAIL_TASK = 'send_email';
/** Each minute. */
export const EMAIL_CRONTAB = `* * * * * ${EMAIL_ROUND_TASK}`;

/** The longest time since the last message that holds back the next one. */
const QUIET = sql`(last_sent_at is null or last_sent_at <= now() - make_interval(mins => ${EMAIL_EVERY_MINUTES}))`;

/** Tells people of events by e-mail. */
export interface TellByEmail {
  /** Queues the messages that are due. One that fails is tried again later and later, and not queued beside that. */
  queueDue(): Promise<void>;
  /**
   * Sends a wallet's events since the last message, and notes how far it told. Where the process dies between the two, the next
   * one sends them again. Where the mail server permanently refuses the address, the address must be confirmed again.
   */
  tell(wallet: string): Promise<void>;
}

/** Ends the confirmation of an address, and tells its wallet in other ways. */
async function noteRefusal(tx: Tx, wallet: string): Promise<void> {
  await tx
    .updateTable('email_addresses')
    .set({ confirmed_at: null, refused_at: sql<Date>`now()` })
    .where('wallet', '=', wallet)
    .execute();
  await appendEvent(tx, { wallet, name: 'email.refused', subject: `email:${wallet}`, data: {} });
}

/** Makes the sender of messages. */
export function createTellByEmail({
  db,
  keys,
  mailer,
  baseUrl,
}: EmailDeps & { mailer: Mailer }): TellByEmail {
  return {
    async queueDue() {
      await sql`
        select graphile_worker.add_job(${EMAIL_TASK}, json_build_object('wallet', wallet), job_key := 'email:' || wallet)
        from email_addresses a
        where confirmed_at is not null and ${QUIET}
          and ((select max(position) from events e where e.wallet = a.wallet) > told_until
            or (select added from events e where e.wallet = a.wallet and position is null order by added limit 1) > 0)
          and not exists (select from graphile_worker.jobs j
            where j.key = 'email:' || a.wallet and j.attempts < j.max_attempts)`.execute(db);
    },
    async tell(wallet) {
      await sql`select place_events(${wallet})`.execute(db);
      await db.transaction().execute(async (tx) => {
        const row = await tx
          .selectFrom('email_addresses')
          .selectAll()
          .where('wallet', '=', wallet)
          .where('confirmed_at', 'is not', null)
          .where(sql<boolean>`${QUIET}`)
          .forUpdate()
          // Another task sends it.
          .skipLocked()
          .executeTakeFirst();
        if (!row) return;
        const { until } = await tx
          .selectFrom('events')
          .select((eb) => eb.fn.max('position').as('until'))
          .where('wallet', '=', wallet)
          .executeTakeFirstOrThrow();
        if (until === null || until <= row.told_until) return;
        const names: readonly EventName[] = row.events ?? EMAIL_EVENTS;
        const { rows: events } = await sql<ToldEvent & { total: bigint }>`
          select e.name, e.data, e.created_at, l.title, count(*) over () as total
          from events e left join listings l on l.id = e.data ->> 'listing_id'
          where e.wallet = ${wallet} and e.position > ${row.told_until} and e.position <= ${until}
            and e.name = any (${names}::text[]) and e.created_at >= ${row.confirmed_at}
          order by e.position limit ${EMAIL_MOST_EVENTS}`.execute(tx);
        const [first] = events;
        if (first) {
          const { address: to, token } = openContact(keys, wallet, row.sealed_address);
          const message = digest(baseUrl(), { to, wallet, token, events, total: Number(first.total) });
          try {
            await mailer.send(message);
          } catch (error) {
            if (!(error instanceof RefusedAddressError)) throw error;
            await noteRefusal(tx, wallet);
            return;
          }
        }
        await tx
          .updateTable('email_addresses')
          .set({ told_until: until, ...(first ? { last_sent_at: sql<Date>`now()` } : {}) })
          .where('wallet', '=', wallet)
          .execute();
      });
    },
  };
}
