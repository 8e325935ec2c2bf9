import { randomUUID } from 'node:crypto';
import {
  MAX_WEBHOOKS,
  type createdWebhook,
  type createWebhookBody,
  type updateWebhookBody,
  type Webhook,
  type WebhookAttempt,
} from '@agent-rental/contract';
import { sql, type Selectable, type UpdateObject } from 'kysely';
import * as z from 'zod';
import type { Db, Tx } from '../../database/connection.js';
import type { Database } from '../../database/schema.js';
import { ApiError } from '../../errors/api-error.js';
import type { Keys } from '../../platform/keys.js';
import { ForbiddenUrlError, type OutboundHttp } from '../../platform/outbound-http.js';
import { enqueueDeliveries } from './enqueue-deliveries.js';
import { newSecret, signingSecrets } from './secrets.js';
import { sendEvent } from './send-event.js';

type Row = Selectable<Database['webhooks']>;
type Created = z.infer<typeof createdWebhook>;

/** The parts of webhooks. */
export interface WebhookDeps {
  db: Db;
  keys: Keys;
  outbound: Pick<OutboundHttp, 'fetch' | 'checkUrl'>;
  /** Ends a test of a webhook. */
  stopping: AbortSignal;
}

/** The webhooks of wallets. Each method throws ApiError `not_found` for another wallet's. */
export interface Webhooks {
  list(wallet: string): Promise<Webhook[]>;
  /** @throws ApiError `invalid_request` for too many, for a second one of callbacks, and for an address that is not called. */
  create(wallet: string, body: z.output<typeof createWebhookBody>): Promise<Created>;
  /** @throws ApiError `invalid_request` for an address that is not called, and where callbacks have no such field. */
  update(wallet: string, id: string, body: z.output<typeof updateWebhookBody>): Promise<Webhook>;
  remove(wallet: string, id: string): Promise<Webhook>;
  /** Makes a new secret; the old one signs beside it for a while. */
  rotate(wallet: string, id: string): Promise<Created>;
  /** Sends `webhook.test` now. @throws ApiError `invalid_request` without an address. */
  test(wallet: string, id: string): Promise<WebhookAttempt>;
}

/** As of a new webhook: it may be sent to. */
const HEALTHY = { failures: 0, failing_since: null, rests_until: sql<Date>`now()` };

export function createWebhooks({ db, keys, outbound, stopping }: WebhookDeps): Webhooks {
  const change = (tx: Db, { id }: Row, to: UpdateObject<Database, 'webhooks'>): Promise<Row> =>
    tx.updateTable('webhooks').set(to).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

  return {
    async list(wallet) {
      const rows = await db
        .selectFrom('webhooks')
        .selectAll()
        .where('wallet', '=', wallet)
        .orderBy('created_at')
        .execute();
      return rows.map(toWebhook);
    },

    async create(wallet, { url, events }) {
      if (url === undefined && events !== undefined) throw noEvents();
      requireCallable(outbound, 'url', url);
      const id = randomUUID();
      const { secret, sealed } = newSecret(keys, id);
      const row = await db.transaction().execute(async (tx) => {
        await requireRoom(tx, wallet, url);
        return tx
          .insertInto('webhooks')
          .values({ id, wallet, url: url ?? null, events: events ?? null, sealed_secrets: sealed })
          .returningAll()
          .executeTakeFirstOrThrow();
      });
      return { ...toWebhook(row), secret };
    },

    async update(wallet, id, { url, events, paused }) {
      requireCallable(outbound, 'url', url);
      return db.transaction().execute(async (tx) => {
        const row = await ownWebhook(tx, wallet, id, { forUpdate: true });
        if (row.url === null && url !== undefined) {
          throw new ApiError('invalid_request', 'This webhook signs callbacks, and has no address.', {
            next: 'Create another one with a url.',
          });
        }
        if (row.url === null && events) throw noEvents();
        const changed = await change(tx, row, {
          events: events === undefined ? row.events : events,
          ...(url === undefined ? {} : { url, ...HEALTHY }),
          ...(paused === true ? { paused_at: sql<Date>`coalesce(paused_at, now())` } : {}),
          ...(paused === false ? { paused_at: null, ...HEALTHY } : {}),
        });
        await enqueueDeliveries(tx, { webhookIds: [id] });
        return toWebhook(changed);
      });
    },

    async remove(wallet, id) {
      const row = await ownWebhook(db, wallet, id);
      await db.deleteFrom('webhooks').where('id', '=', id).execute();
      return toWebhook(row);
    },

    rotate(wallet, id) {
      return db.transaction().execute(async (tx) => {
        const row = await ownWebhook(tx, wallet, id, { forUpdate: true });
        const { secret, sealed } = newSecret(keys, id, row.sealed_secrets);
        return { ...toWebhook(await change(tx, row, { sealed_secrets: sealed })), secret };
      });
    },

    async test(wallet, id) {
      const { url, sealed_secrets: sealed } = await ownWebhook(db, wallet, id);
      if (url === null) {
        throw new ApiError('invalid_request', 'This webhook signs callbacks, and has no address.', {
          next: 'Run an agent with a callback_url.',
        });
      }
      const event = {
        id: randomUUID(),
        name: 'webhook.test' as const,
        subject: `webhook:${id}`,
        sequence: 1,
        created_at: new Date().toISOString(),
        data: { webhook_id: id },
      };
      const secrets = signingSecrets(keys, { id, sealed });
      const attempt = await sendEvent({ url, event, secrets }, { outbound, stopping });
      if (!attempt)
        throw new ApiError('service_unavailable', 'The server is stopping.', { next: 'Try again.' });
      return attempt;
    },
  };
}

const noEvents = () =>
  new ApiError('invalid_request', 'A webhook without url has no events.', {
    next: 'A run chooses them by callback_events.',
  });

/** @throws ApiError `invalid_request` for an address that the server does not call; `field` has it. */
export function requireCallable(
  outbound: Pick<OutboundHttp, 'checkUrl'>,
  field: string,
  url: string | undefined,
): void {
  if (url === undefined) return;
  try {
    outbound.checkUrl(url);
  } catch (error) {
    if (!(error instanceof ForbiddenUrlError)) throw error;
    throw new ApiError('invalid_request', `${field}: ${error.message}.`);
  }
}

/** The webhook of that wallet. @throws ApiError `not_found` */
export async function ownWebhook(
  db: Db,
  wallet: string,
  id: string,
  { forUpdate = false } = {},
): Promise<Row> {
  const row = z.uuid().safeParse(id).success
    ? await db
        .selectFrom('webhooks')
        .selectAll()
        .where('id', '=', id)
        .where('wallet', '=', wallet)
        .$if(forUpdate, (query) => query.forNoKeyUpdate())
        .executeTakeFirst()
    : undefined;
  if (!row) throw new ApiError('not_found', 'The wallet has no such webhook.');
  return row;
}

async function requireRoom(tx: Tx, wallet: string, url: string | undefined): Promise<void> {
  // One after the other, so that no two of them see the same webhooks.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks of ${wallet}`}, 0))`.execute(tx);
  const others = await tx.selectFrom('webhooks').select('url').where('wallet', '=', wallet).execute();
  if (url === undefined && others.some((other) => other.url === null)) {
    throw new ApiError('invalid_request', 'The wallet has a webhook without url already.', {
      next: 'It signs all callbacks. POST /v1/webhooks/{id}/secret replaces its secret.',
    });
  }
  if (others.length >= MAX_WEBHOOKS) {
    throw new ApiError('invalid_request', `The wallet has ${MAX_WEBHOOKS} webhooks, which is the most.`, {
      next: 'Delete one first.',
    });
  }
}

function toWebhook(row: Row): Webhook {
  const { id, url, events, created_at: createdAt, failing_since: failing, paused_at: paused } = row;
  return {
    id,
    ...(url === null ? {} : { url }),
    ...(events === null ? {} : { events }),
    created_at: createdAt.toISOString(),
    ...(failing === null ? {} : { failing_since: failing.toISOString() }),
    ...(paused === null ? {} : { paused_at: paused.toISOString() }),
  };
}
