import { createHmac, hash, randomBytes } from 'node:crypto';
import {
  EMAIL_CONFIRMATION_HOURS,
  EMAIL_CONFIRMATIONS_PER_DAY,
  type EmailSettings,
  type setEmailBody,
} from '@agent-rental/contract';
import { sql } from 'kysely';
import type { z } from 'zod';
import type { Db, Tx } from '../../database/connection.js';
import type { SealedPlace } from '../../database/sealed-places.js';
import { ApiError } from '../../errors/api-error.js';
import type { Keys } from '../../platform/keys.js';
import type { Mailer } from './mailer.js';
import { confirmation } from './messages.js';

/** A sealed address, opened. */
export interface Contact {
  address: string;
  /** Unsubscribes it. */
  token: string;
}

/** The e-mail addresses of wallets. No error and no line of the log names one. */
export interface EmailAddresses {
  settings(wallet: string): Promise<EmailSettings>;
  /**
   * Sets the address of a wallet, and sends a message to confirm it where it is not confirmed.
   *
   * @throws ApiError `invalid_request` where the marketplace sends no e-mail, `rate_limit_exceeded`, `service_unavailable`.
   */
  set(
    caller: { wallet: string; network: string | undefined },
    settings: z.output<typeof setEmailBody>,
  ): Promise<EmailSettings>;
  /** Confirms the address of a token; false for an old or unknown one. @param wallet the only one; absent: any */
  confirm(token: string, wallet?: string): Promise<boolean>;
  remove(wallet: string): Promise<EmailSettings>;
  /** Removes the address that a message with this token went to. */
  unsubscribe(token: string): Promise<void>;
}

const contextOf = (wallet: string) => `email:${wallet}`;

/** Where addresses are sealed. */
export const SEALED_EMAIL_ADDRESSES: SealedPlace = {
  name: 'e-mail addresses',
  table: 'email_addresses',
  id: ['wallet'],
  column: 'sealed_address',
  contextOf: ([wallet]) => contextOf(String(wallet)),
};

/** Opens a sealed address. */
export const openContact = (keys: Keys, wallet: string, sealed: Buffer) =>
  JSON.parse(keys.open(sealed, contextOf(wallet)).toString()) as Contact;

const newToken = () => randomBytes(32).toString('base64url');
const digestOf = (token: string) => hash('sha256', token, 'buffer');

/** The dependencies of e-mail. */
export interface EmailDeps {
  db: Db;
  keys: Keys;
  /** Absent: the marketplace sends no e-mail. */
  mailer: Mailer | undefined;
  /** Of this service, for links. */
  baseUrl: () => string;
}

/** Makes the addresses. */
export function createEmailAddresses({ db, keys, mailer, baseUrl }: EmailDeps): EmailAddresses {
  const find = (wallet: string) =>
    db.selectFrom('email_addresses').selectAll().where('wallet', '=', wallet).executeTakeFirst();
  // Without the key, a thief of the database cannot find an address by trying.
  const addressKey = keys.derive('email-addresses');

  async function settings(wallet: string): Promise<EmailSettings> {
    const row = await find(wallet);
    const configured = mailer !== undefined;
    if (!row) return { configured, confirmed: false };
    return {
      configured,
      address: openContact(keys, wallet, row.sealed_address).address,
      confirmed: row.confirmed_at !== null,
      ...(row.refused_at === null ? {} : { refused_at: row.refused_at.toISOString() }),
      ...(row.events === null ? {} : { events: row.events }),
    };
  }

  return {
    settings,
    async set({ wallet, network }, { address, events = null }) {
      if (!mailer) {
        throw new ApiError('invalid_request', 'This marketplace sends no e-mail: it has no mail server.', {
          next: 'Its operator can set SMTP_URL and SMTP_FROM.',
        });
      }
      const present = await settings(wallet);
      if (present.address === address && present.confirmed) {
        await db.updateTable('email_addresses').set({ events }).where('wallet', '=', wallet).execute();
        return settings(wallet);
      }
      const addressDigest = createHmac('sha256', addressKey).update(address.toLowerCase()).digest();
      const contact: Contact = { address, token: newToken() };
      const confirmToken = newToken();
      const row = {
        sealed_address: keys.seal(JSON.stringify(contact), contextOf(wallet)),
        unsubscribe_digest: digestOf(contact.token),
        events,
        confirmed_at: null,
        refused_at: null,
        confirm_digest: digestOf(confirmToken),
        confirm_until: sql<Date>`now() + make_interval(hours => ${EMAIL_CONFIRMATION_HOURS})`,
      };
      await db.transaction().execute(async (tx) => {
        await countConfirmation(tx, { wallet, address_digest: addressDigest, network: network ?? null });
        await tx
          .insertInto('email_addresses')
          .values({ wallet, ...row })
          .onConflict((conflict) => conflict.column('wallet').doUpdateSet(row))
          .execute();
      });
      const message = confirmation(baseUrl(), { to: address, wallet, token: confirmToken });
      await mailer.send(message).catch((cause: unknown) => {
        throw new ApiError('service_unavailable', 'The mail server took no message.', {
          next: 'Check the address, then try again.',
          cause,
        });
      });
      return settings(wallet);
    },
    async confirm(token, wallet) {
      const { rows } = await sql`
        update email_addresses a set confirmed_at = now(), confirm_digest = null, confirm_until = null,
          told_until = coalesce((select max(position) from events e where e.wallet = a.wallet), 0)
        where confirm_digest = ${digestOf(token)} and confirm_until > now()
          and ${wallet === undefined ? sql`true` : sql`wallet = ${wallet}`}
        returning wallet`.execute(db);
      return rows.length > 0;
    },
    async remove(wallet) {
      await db.deleteFrom('email_addresses').where('wallet', '=', wallet).execute();
      return settings(wallet);
    },
    async unsubscribe(token) {
      await db.deleteFrom('email_addresses').where('unsubscribe_digest', '=', digestOf(token)).execute();
    },
  };
}

/** Who asked for a confirmation, and to which address. */
interface Confirmation {
  wallet: string;
  address_digest: Buffer;
  network: string | null;
}

/** Counts a confirmation. @throws ApiError `rate_limit_exceeded` where there were as many as there may be. */
async function countConfirmation(tx: Tx, confirmed: Confirmation): Promise<void> {
  const bounds = [
    ['wallet', confirmed.wallet, EMAIL_CONFIRMATIONS_PER_DAY.wallet, 'of this wallet'],
    ['address_digest', confirmed.address_digest, EMAIL_CONFIRMATIONS_PER_DAY.address, 'to this address'],
    ['network', confirmed.network, EMAIL_CONFIRMATIONS_PER_DAY.network, 'from your network'],
  ] as const;
  // One after the other, so that no two see the same counts.
  await sql`select pg_advisory_xact_lock(hashtextextended('confirmations of e-mail addresses', 0))`.execute(
    tx,
  );
  for (const [column, value, most, words] of bounds) {
    if (value === null) continue;
    const { count } = await tx
      .selectFrom('email_confirmations')
      .select((eb) => eb.fn.countAll<bigint>().as('count'))
      .where(column, '=', value)
      .where('sent_at', '>', sql<Date>`now() - interval '24 hours'`)
      .executeTakeFirstOrThrow();
    if (Number(count) < most) continue;
    throw new ApiError('rate_limit_exceeded', `${most} confirmations ${words} were sent in 24 hours.`, {
      next: 'Try again tomorrow.',
      retryAfterSeconds: 3_600,
    });
  }
  await tx.insertInto('email_confirmations').values(confirmed).execute();
}

/** Removes the records of confirmations that count no more. */
export async function removeOldConfirmations(db: Db): Promise<void> {
  await sql`delete from email_confirmations where sent_at < now() - interval '24 hours'`.execute(db);
}
