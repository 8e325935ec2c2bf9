import type { OwnMarketplace } from '../marketplace.js';
import { inspect } from './inspector.js';

/**
 * Watches the loop of the server's process from inside: the longest time between two ticks of a timer. Only time
 * in which the main thread used a processor counts (by Linux). So other processes of a busy machine do not count.
 */
const INSTALL = `(() => {
  const fs = process.getBuiltinModule('node:fs');
  const file = fs.openSync('/proc/self/schedstat', 'r');
  const text = Buffer.alloc(64);
  const used = () => Number(text.toString('latin1', 0, fs.readSync(file, text, 0, 64, 0)).split(' ')[0]) / 1e6;
  let [longest, at, cpu] = [0, performance.now(), used()];
  const tick = () => {
    const [now, usedNow] = [performance.now(), used()];
    longest = Math.max(longest, Math.min(now - at, usedNow - cpu));
    [at, cpu] = [now, usedNow];
  };
  setInterval(tick, 1).unref();
  globalThis.takeLongestHold = () => { const taken = longest; longest = 0; return taken; };
  return true;
})()`;

/** Watches the event loop of a server. */
export interface LoopWatch {
  /** The longest hold of the loop since the last call, in milliseconds of processor time. */
  takeLongestHoldMs(): Promise<number>;
  close(): void;
}

/** Begins to watch a marketplace's server, which was started with an inspector. */
export async function watchLoop({
  output,
  process,
}: Pick<OwnMarketplace, 'output' | 'process'>): Promise<LoopWatch> {
  const inspector = await inspect(output, process);
  await inspector.evaluate(INSTALL);
  return {
    takeLongestHoldMs: () => inspector.evaluate<number>('takeLongestHold()'),
    close: () => inspector.close(),
  };
}
