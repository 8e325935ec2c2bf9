/** Lets the requests of one key begin one after the other. */
export interface KeyTurns {
  /**
   * Does work once the earlier work under the key has ended.
   *
   * @param key absent: the work waits for none
   * @param work gets whether it waited
   */
  take<T>(key: string | undefined, work: (hasWaited: boolean) => Promise<T>): Promise<T>;
}

/** Makes the turns of one process. Among replicas the record of a run decides. */
export function createKeyTurns(): KeyTurns {
  const last = new Map<string, Promise<unknown>>();
  return {
    async take(key, work) {
      if (key === undefined) return work(false);
      const before = last.get(key);
      const working = before === undefined ? work(false) : before.then(() => work(true));
      const ended = working.catch(() => undefined);
      last.set(key, ended);
      try {
        return await working;
      } finally {
        if (last.get(key) === ended) last.delete(key);
      }
    },
  };
}
