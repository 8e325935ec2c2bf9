import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { SealedPlace } from '../../database/sealed-places.js';
import { ApiError } from '../../errors/api-error.js';
import type { Keys } from '../../platform/keys.js';
import type { OutboundHttp } from '../../platform/outbound-http.js';
import { enqueueDeliveries } from './enqueue-deliveries.js';
import { newSecret } from './secrets.js';
import { requireCallable } from './webhooks.js';

/** The end of a run, as another protocol tells it. */
export const PUSH_ENDS = ['completed', 'failed', 'canceled'] as const;
export type PushEnd = (typeof PUSH_ENDS)[number];

/** The requests that tell the end of a run in another protocol. */
export interface Push {
  /** The protocol's name of it, and the receiver's secrets. */
  config: { id: string; token?: string; authentication?: { scheme: string; credentials: string } };
  headers: Record<string, string>;
  bodies: Record<PushEnd, string>;
}

/** Callbacks in the form of another protocol. A run has one callback, of any form. */
export interface PushConfigs {
  /** @throws ApiError `invalid_request` for an address that is not called. */
  check(url: string): void;
  /**
   * Sets the callback of a wallet's run, or replaces it. A run that has ended is told at once.
   *
   * @throws ApiError `invalid_request` for an address that is not called, and for a run with a callback of another form.
   */
  set(wallet: string, runId: string, url: string, push: Push): Promise<void>;
  find(runId: string): Promise<{ url: string; push: Push } | undefined>;
  /** Removes it. Nothing more is sent. */
  remove(wallet: string, runId: string): Promise<void>;
}

const contextOf = (runId: string) => `push:${runId}`;

/** Where the secrets of receivers are sealed. */
export const SEALED_PUSHES: SealedPlace = {
  name: 'push configs of runs',
  table: 'run_callbacks',
  id: ['run_id'],
  column: 'sealed_push',
  contextOf: ([runId]) => contextOf(String(runId)),
};

/** Opens a sealed push. */
export const openPush = (keys: Keys, runId: string, sealed: Buffer): Push =>
  JSON.parse(keys.open(sealed, contextOf(runId)).toString('utf8')) as Push;

const subjectOf = (runId: string) => `run:${runId}`;

export function createPushConfigs(db: Db, keys: Keys, outbound: Pick<OutboundHttp, 'checkUrl'>): PushConfigs {
  return {
    check: (url) => requireCallable(outbound, 'url', url),

    async set(wallet, runId, url, push) {
      requireCallable(outbound, 'url', url);
      const sealed_push = keys.seal(JSON.stringify(push), contextOf(runId));
      await db.transaction().execute(async (tx) => {
        // The run does not end meanwhile: its event sees the callback, or it has ended, and is told here.
        const run = await tx
          .selectFrom('runs')
          .select('status')
          .where('id', '=', runId)
          .where('wallet', '=', wallet)
          .forNoKeyUpdate()
          .executeTakeFirst();
        if (!run) throw new ApiError('not_found', 'The wallet has no such run.');
        await addSigner(tx, keys, wallet);
        const { rows } = await sql`
          insert into run_callbacks (run_id, url, events, sealed_push)
          values (${runId}, ${url}, '{run.completed,run.failed}', ${sealed_push})
          on conflict (run_id) do update set url = excluded.url, sealed_push = excluded.sealed_push
            where run_callbacks.sealed_push is not null
          returning run_id`.execute(tx);
        if (rows.length === 0) throw new ApiError('invalid_request', 'The run has a callback_url already.');
        if (run.status === 'running') return;
        await sql`
          insert into webhook_deliveries (webhook_id, event_id, callback_url)
          select w.id, e.id, ${url} from events e join webhooks w on w.wallet = e.wallet and w.url is null and w.paused_at is null
          where e.wallet = ${wallet} and e.subject = ${subjectOf(runId)} and e.name in ('run.completed', 'run.failed')
          on conflict do nothing`.execute(tx);
        await enqueueDeliveries(tx, { wallets: [wallet] });
      });
    },

    async find(runId) {
      const row = await db
        .selectFrom('run_callbacks')
        .select(['url', 'sealed_push'])
        .where('run_id', '=', runId)
        .executeTakeFirst();
      if (!row?.sealed_push) return undefined;
      return { url: row.url, push: openPush(keys, runId, row.sealed_push) };
    },

    async remove(wallet, runId) {
      await db.transaction().execute(async (tx) => {
        const { rows } = await sql`
          delete from run_callbacks where run_id = ${runId} and sealed_push is not null returning run_id`.execute(
          tx,
        );
        if (rows.length === 0) return;
        await sql`
          delete from webhook_deliveries where callback_url is not null and event_id in (
            select id from events where wallet = ${wallet} and subject = ${subjectOf(runId)})`.execute(tx);
      });
    },
  };
}

/** Deliveries of callbacks belong to the webhook that signs them. A receiver of another protocol needs no secret of it. */
async function addSigner(tx: Db, keys: Keys, wallet: string): Promise<void> {
  const id = randomUUID();
  await sql`
    insert into webhooks (id, wallet, sealed_secrets) values (${id}, ${wallet}, ${newSecret(keys, id).sealed})
    on conflict (wallet) where url is null do nothing`.execute(tx);
}
