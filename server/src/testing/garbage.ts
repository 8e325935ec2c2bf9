import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const INTERVAL_MS = 10;

/** Collects all garbage every few milliseconds while an action runs: unreferenced objects do not survive it. */
export async function collectingGarbage<T>(action: () => Promise<T>): Promise<T> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const timer = setInterval(collect, INTERVAL_MS);
  try {
    return await action();
  } finally {
    clearInterval(timer);
  }
}
