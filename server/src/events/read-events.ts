import { EVENT_NAMES, EVENTS, type EventName, type WalletEvent } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db } from '../database/connection.js';
import type { Owner } from '../access/owner.js';

/** An event, and the place after it. */
export interface ReadEvent {
  event: WalletEvent;
  cursor: string;
}

/** Which events are read, by default the oldest first. */
export interface EventsAsked {
  after?: string | undefined;
  before?: string | undefined;
  order?: 'oldest' | 'newest' | undefined;
  types?: readonly EventName[] | undefined;
  limit: number;
}

/** No event comes later. */
const LAST_POSITION = '9223372036854775807';

const seenAs = (kind: 'run' | 'rental') => EVENT_NAMES.filter((name) => EVENTS[name].seenBy === kind);

/**
 * The events that an owner sees. Committed events get their places first, so that none appears before a cursor that was
 * given out.
 */
export async function readEvents(db: Db, owner: Owner, asked: EventsAsked): Promise<ReadEvent[]> {
  await sql`select place_events(${owner.wallet})`.execute(db);
  const ofKey = sql`(api_key_id = ${owner.apiKeyId ?? null}::uuid and name = any (${seenAs('run')}::text[])
    or name = any (${seenAs('rental')}::text[])
      and (${owner.listingIds ?? null}::text[] is null or data ->> 'listing_id' = any (${owner.listingIds ?? null}::text[])))`;
  const { rows } = await sql<Row>`
    select id, position, name, subject, sequence, data, created_at from events
    where wallet = ${owner.wallet} and position > ${asked.after ?? '0'}::bigint
      and position < ${asked.before ?? LAST_POSITION}::bigint
      and ${owner.apiKeyId === undefined ? sql`true` : ofKey}
      and ${asked.types ? sql`name = any (${asked.types}::text[])` : sql`true`}
    order by position ${sql.raw(asked.order === 'newest' ? 'desc' : 'asc')} limit ${asked.limit}`.execute(db);
  return rows.map((row) => ({
    event: toWalletEvent(row),
    cursor: row.position.toString(),
  }));
}

/** The cursor of the present: each event of the wallet that is committed later comes after it. */
export async function readPresent(db: Db, wallet: string): Promise<string> {
  await sql`select place_events(${wallet})`.execute(db);
  const { rows } = await sql<{ position: bigint | null }>`
    select max(position) as position from events where wallet = ${wallet}`.execute(db);
  return (rows[0]?.position ?? 0n).toString();
}

/** The columns of an event that its readers see. */
export interface EventRow {
  id: string;
  name: EventName;
  subject: string;
  sequence: bigint;
  data: WalletEvent['data'];
  created_at: Date;
}
type Row = EventRow & { position: bigint };

/** An event as every way of delivery tells it. */
export function toWalletEvent({
  id,
  name,
  subject,
  sequence,
  created_at: createdAt,
  data,
}: EventRow): WalletEvent {
  return {
    id,
    name,
    subject,
    sequence: Number(sequence),
    created_at: createdAt.toISOString(),
    data,
  };
}
