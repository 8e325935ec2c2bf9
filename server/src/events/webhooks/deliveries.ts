import type { WebhookDelivery } from '@agent-rental/contract';
import { sql } from 'kysely';
import * as z from 'zod';
import type { Db } from '../../database/connection.js';
import { microsecondsOf } from '../../database/keyset.js';
import { readListPage } from '../../database/list-page.js';
import { ApiError } from '../../errors/api-error.js';
import { enqueueDeliveries } from './enqueue-deliveries.js';
import { ownWebhook } from './webhooks.js';

/** The deliveries of webhooks. Each method throws ApiError `not_found` for another wallet's webhook. */
export interface Deliveries {
  /** The newest first. */
  list(
    wallet: string,
    webhookId: string,
    page: { limit: number; cursor?: string | undefined },
  ): Promise<{ deliveries: WebhookDelivery[]; next_cursor?: string | undefined }>;
  /** Has an event sent again, whatever came of it before. @throws ApiError `invalid_request` while the webhook is paused. */
  redeliver(wallet: string, webhookId: string, eventId: string): Promise<WebhookDelivery>;
}

type Row = Pick<WebhookDelivery, 'event_id' | 'name' | 'subject' | 'status' | 'attempts'> & {
  created_at: Date;
  created_at_us: bigint;
  next_attempt_at: Date;
};

/** Columns of deliveries `d` with their events. */
const COLUMNS =
  sql.raw(`d.event_id, e.name, e.subject, d.created_at, ${microsecondsOf('d.created_at')} as created_at_us,
  d.status, d.attempts, d.next_attempt_at`);

export function createDeliveries(db: Db): Deliveries {
  return {
    async list(wallet, webhookId, { limit, cursor }) {
      await ownWebhook(db, wallet, webhookId);
      const list = {
        name: `deliveries:${webhookId}`,
        isId: (text: string) => z.uuid().safeParse(text).success,
        positionOf: (row: Row) => ({ timeUs: row.created_at_us, id: row.event_id }),
        // The answer has no total.
        count: async () => ({ total: 0, isMinimum: true }),
        async read({
          limit: most,
          after,
        }: {
          limit: number;
          after?: { timeUs: bigint; id: string } | undefined;
        }) {
          const { rows } = await sql<Row>`
            select ${COLUMNS} from webhook_deliveries d join events e on e.id = d.event_id
            where d.webhook_id = ${webhookId}::uuid and ${
              after
                ? sql`(d.created_at, d.event_id) < (timestamptz 'epoch' + ${after.timeUs}::bigint * interval '1 microsecond', ${after.id}::uuid)`
                : sql`true`
            }
            order by d.created_at desc, d.event_id desc limit ${most}`.execute(db);
          return rows;
        },
      };
      const { rows, end } = await readListPage(list, { limit, offset: 0, cursor });
      const { next_cursor: next } = end;
      return { deliveries: rows.map(toDelivery), ...(next === undefined ? {} : { next_cursor: next }) };
    },

    redeliver(wallet, webhookId, eventId) {
      return db.transaction().execute(async (tx) => {
        const { paused_at: pausedAt } = await ownWebhook(tx, wallet, webhookId, { forUpdate: true });
        if (pausedAt) {
          throw new ApiError('invalid_request', 'The webhook is paused.', {
            next: 'Resume it first: PATCH /v1/webhooks/{id} with paused: false.',
          });
        }
        const { rows } = await sql<Row>`
          update webhook_deliveries d set status = 'pending', next_attempt_at = now()
          from events e where d.webhook_id = ${webhookId}::uuid and d.event_id = ${eventId}::uuid and e.id = d.event_id
          returning ${COLUMNS}`.execute(tx);
        const [row] = rows;
        if (!row) throw new ApiError('not_found', 'The webhook has no delivery of that event.');
        // An address that rests is asked now.
        await tx
          .updateTable('webhooks')
          .set({ rests_until: sql<Date>`now()` })
          .where('id', '=', webhookId)
          .execute();
        await enqueueDeliveries(tx, { webhookIds: [webhookId] });
        return toDelivery(row);
      });
    },
  };
}

function toDelivery(row: Row): WebhookDelivery {
  const { event_id, name, subject, created_at: createdAt, status, attempts, next_attempt_at: next } = row;
  return {
    event_id,
    name,
    subject,
    created_at: createdAt.toISOString(),
    status,
    attempts,
    ...(status === 'pending' ? { next_attempt_at: next.toISOString() } : {}),
  };
}
