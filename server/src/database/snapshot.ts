import type { Db, Tx } from './connection.js';

/** Runs statements that all see the database as it was when the first of them started; gives the result of `work`. */
export function inSnapshot<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel('repeatable read').execute(work);
}
