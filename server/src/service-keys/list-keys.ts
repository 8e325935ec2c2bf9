import { sql } from 'kysely';
import type { Db } from '../database/connection.js';

/** A key of the service, without the key. */
export interface ListedKey {
  purpose: string;
  number: number;
  /** Names it. */
  kid: string;
  madeAt: Date;
  signsFrom: Date;
  acceptedUntil: Date | null;
  state: 'next' | 'signs' | 'accepted' | 'ended' | 'revoked';
}

/** The service's keys, by purpose, the newest first. */
export async function listKeys(db: Db): Promise<ListedKey[]> {
  const { rows } = await sql<ListedKey>`
    select purpose, number, kid, made_at as "madeAt", signs_from as "signsFrom", accepted_until as "acceptedUntil",
      case
        when revoked_at is not null then 'revoked'
        when accepted_until <= now() then 'ended'
        when signs_from > now() then 'next'
        when number = max(number) filter (where signs_from <= now()) over (partition by purpose) then 'signs'
        else 'accepted'
      end as state
    from service_keys order by purpose, number desc`.execute(db);
  return rows;
}
