import { ICON_PATH } from '@agent-rental/contract';
import type { Db } from '../database/connection.js';

/** The path of a picture at this service. */
export const iconPath = (sha256: string): string => ICON_PATH.replace(':sha256', sha256);

/** The pictures that creators gave their listings. */
export interface Icons {
  /** A picture by its digest, of a listing that is or was on sale. */
  find(sha256: string): Promise<Buffer | undefined>;
}

export const createIcons = (db: Db): Icons => ({
  async find(sha256) {
    const row = await db
      .selectFrom('listings')
      .select('icon')
      .where('icon_sha256', '=', sha256)
      .where('status', '!=', 'draft')
      .limit(1)
      .executeTakeFirst();
    return row?.icon ?? undefined;
  },
});
