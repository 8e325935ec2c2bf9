/**
 * A process that starts the sandboxes of a server. The server requests them over the channel. The start of a process copies the
 * page tables of its parent. A server of 100 to 260 MB needs 5 to 10 ms for that, this process of 47 MB needs 1.6 ms. This
 * process ends with the server, and the sandboxes end with it (parent death signal).
 */
import type { ChildProcess } from 'node:child_process';
import { endMethods } from './end-child.js';
import { openProcessSpawner } from './spawn-process.js';
import type { SpawnerReport, SpawnerRequest } from './messages.js';

const spawner = openProcessSpawner();
const running = new Map<number, () => void>();

function report(message: SpawnerReport): void {
  if (process.connected) process.send?.(message);
}

function watch(id: number, child: ChildProcess, end: (child: ChildProcess) => void): void {
  child.once('error', ({ message }) => {
    if (child.pid === undefined) report({ id, event: 'failed', message });
  });
  if (child.pid === undefined) return;
  running.set(id, () => end(child));
  child.once('exit', (code, signal) => {
    running.delete(id);
    report({ id, event: 'exited', code, signal });
  });
  report({ id, event: 'spawned', pid: child.pid });
}

process.title = 'agent-rental sandbox spawner';
process.on('message', (message: SpawnerRequest) => {
  const { id } = message;
  if (message.do === 'end') {
    running.get(id)?.();
    return;
  }
  try {
    watch(id, spawner.spawn(message.request), endMethods[message.endMethod]);
  } catch (error) {
    report({ id, event: 'failed', message: (error as Error).message });
  }
});
process.on('disconnect', () => process.exit());
// A terminal sends these signals to all processes of its group. The server decides when its sandboxes end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
