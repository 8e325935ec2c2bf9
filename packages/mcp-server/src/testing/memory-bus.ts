import type { ReplicaBus } from '../http/replica-bus.js';

/** A bus between replicas of one process. */
export function memoryBus(): ReplicaBus {
  const listeners: ((text: string) => void)[] = [];
  return {
    publish: async (text) => {
      for (const listener of listeners) listener(text);
    },
    subscribe: (listener) => void listeners.push(listener),
  };
}
