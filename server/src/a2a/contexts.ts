import type { Db } from '../database/connection.js';

/** The contexts that callers gave to tasks. A task without one has its own id as its context. */
export interface Contexts {
  keep(runId: string, contextId: string): Promise<void>;
  /** The contexts of these tasks, by task. */
  find(runIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export function createContexts(db: Db): Contexts {
  return {
    async keep(run_id, context_id) {
      if (context_id === '' || context_id === run_id) return;
      await db
        .insertInto('a2a_contexts')
        .values({ run_id, context_id })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
    async find(runIds) {
      if (runIds.length === 0) return new Map();
      const rows = await db
        .selectFrom('a2a_contexts')
        .selectAll()
        .where('run_id', 'in', [...runIds])
        .execute();
      return new Map(rows.map(({ run_id, context_id }) => [run_id, context_id]));
    },
  };
}
