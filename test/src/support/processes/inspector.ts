import type { ChildProcess } from 'node:child_process';

/** A look into a process that was started with `--inspect`. */
export interface Inspector {
  /** Collects garbage, then gives what the process still holds. */
  heapAfterCollection(): Promise<{ heapUsed: number; external: number; arrayBuffers: number; rss: number }>;
  /** What keeps the event loop of the process alive, counted by kind. */
  activeResources(): Promise<Record<string, number>>;
  /** The value of an expression in the process, as JSON. */
  evaluate<T>(expression: string): Promise<T>;
  close(): void;
}

/** What a websocket is to us: Node 20 has no global one. */
interface Socket {
  send(text: string): void;
  close(): void;
  on(event: 'message', listener: (data: { toString(): string }) => void): void;
  once(event: 'open' | 'error', listener: (error?: Error) => void): void;
}

/** Attaches to the address that Node has printed. */
export async function inspect(output: () => string, child: ChildProcess): Promise<Inspector> {
  const url = /ws:\/\/127\.0\.0\.1:\d+\/[\w-]+/.exec(output())?.[0];
  if (url === undefined) throw new Error(`Process ${child.pid} was not started with --inspect.`);
  const { WebSocket } = (await import('ws')) as unknown as { WebSocket: new (url: string) => Socket };
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('error', (error) => reject(error ?? new Error('no connection')));
  });
  let last = 0;
  const waiting = new Map<number, (result: unknown) => void>();
  socket.on('message', (data) => {
    const { id, result } = JSON.parse(data.toString()) as { id?: number; result?: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  const ask = (method: string, params: object = {}): Promise<unknown> => {
    last += 1;
    const id = last;
    socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  const evaluate = async <T>(expression: string): Promise<T> => {
    const answer = await ask('Runtime.evaluate', {
      expression: `JSON.stringify(${expression})`,
      returnByValue: true,
    });
    return JSON.parse((answer as { result: { value: string } }).result.value) as T;
  };
  return {
    async heapAfterCollection() {
      // What a finaliser frees goes with the second.
      await ask('HeapProfiler.collectGarbage');
      await ask('HeapProfiler.collectGarbage');
      return evaluate('process.memoryUsage()');
    },
    async activeResources() {
      const counts: Record<string, number> = {};
      for (const kind of await evaluate<string[]>('process.getActiveResourcesInfo()')) {
        counts[kind] = (counts[kind] ?? 0) + 1;
      }
      return counts;
    },
    evaluate,
    close: () => socket.close(),
  };
}
