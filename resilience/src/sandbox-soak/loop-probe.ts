import type { Inspector } from '@agent-rental/test/support/processes/inspector';

/**
 * Starts the measurement inside the process. A block is a gap between two ticks of a timer. Only the main thread's processor time
 * in the gap counts, because other processes also delay ticks. Linux reports it about every 4 ms.
 */
export async function probeLoop(inspector: Inspector): Promise<void> {
  await inspector.evaluate(`(() => {
    const none = { longest_ms: 0, over_10_ms: 0, over_50_ms: 0, ticks: 0 };
    const blocks = { ...none };
    const fs = process.getBuiltinModule('node:fs');
    const text = Buffer.alloc(64);
    const stat = fs.existsSync('/proc/self/schedstat') ? fs.openSync('/proc/self/schedstat', 'r') : undefined;
    const processorMs = () => {
      if (stat === undefined) {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1000;
      }
      const bytes = fs.readSync(stat, text, 0, text.length, 0);
      return Number(text.toString('latin1', 0, bytes).split(' ')[0]) / 1e6;
    };
    let at = performance.now();
    let used = processorMs();
    const tick = () => {
      const now = performance.now();
      const usedNow = processorMs();
      const blocked = Math.min(now - at, usedNow - used);
      blocks.longest_ms = Math.max(blocks.longest_ms, blocked);
      if (blocked > 10) blocks.over_10_ms += 1;
      if (blocked > 50) blocks.over_50_ms += 1;
      blocks.ticks += 1;
      at = now;
      used = usedNow;
    };
    setInterval(tick, 2).unref();
    // Ends the open gap, so that a garbage collection before a reading is not part of the next reading.
    globalThis.takeLoopBlocks = () => {
      tick();
      const seen = { ...blocks };
      Object.assign(blocks, none);
      return seen;
    };
    return true;
  })()`);
}

/** Reads the blocks since the last call. */
export const readBlocks = (inspector: Inspector) =>
  inspector.evaluate<Record<'longest_ms' | 'over_10_ms' | 'over_50_ms' | 'ticks', number>>(
    'globalThis.takeLoopBlocks()',
  );
