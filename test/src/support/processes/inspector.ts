import type { ChildProcess } from 'node:child_process';

/** A look into a process that was started with `--inspect`. */
export interface Inspector {
  /** Collects garbage, then gives the memory that the process still uses. */
  heapAfterCollection(): Promise<{ heapUsed: number; external: number; arrayBuffers: number; rss: number }>;
  /** The resources that keep the event loop of the process alive, counted by kind. */
  activeResources(): Promise<Record<string, number>>;
  /** The value of an expression in the process, as JSON. */
  evaluate<T>(expression: string): Promise<T>;
  close(): void;
}

/** The used part of a websocket: Node 20 has no global one. */
interface Socket {
  send(text: string): void;
  close(): void;
  on(event: 'message', listener: (data: { toString(): string }) => void): void;
  once(event: 'open' | 'error' | 'close', listener: (error?: Error) => void): void;
}

/** An answer of the inspector's protocol. */
interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** The result of `Runtime.evaluate`. */
interface Evaluated {
  readonly result: { readonly value?: string };
  readonly exceptionDetails?: {
    readonly text: string;
    readonly exception?: { readonly description?: string };
  };
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
  const waiting = new Map<number, (answer: Answer) => void>();
  socket.on('message', (data) => {
    const answer = JSON.parse(data.toString()) as Answer;
    if (answer.id === undefined) return;
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  socket.once('close', () => {
    for (const end of waiting.values()) end({ error: { message: 'The process has ended.' } });
    waiting.clear();
  });
  const ask = async (method: string, params: object = {}): Promise<unknown> => {
    last += 1;
    const id = last;
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await answered;
    if (error) throw new Error(`${method} in process ${child.pid}: ${error.message}`);
    return result;
  };
  const evaluate = async <T>(expression: string): Promise<T> => {
    const { result, exceptionDetails } = (await ask('Runtime.evaluate', {
      // In a separate turn of the event loop: otherwise it would interrupt the function that the process runs just then.
      expression: `new Promise((resolve) => setImmediate(resolve)).then(() => JSON.stringify(${expression}))`,
      awaitPromise: true,
      returnByValue: true,
    })) as Evaluated;
    if (exceptionDetails || result.value === undefined) {
      const reason = exceptionDetails?.exception?.description ?? exceptionDetails?.text ?? 'it has no value';
      throw new Error(`Process ${child.pid} did not evaluate ${expression}: ${reason}`);
    }
    return JSON.parse(result.value) as T;
  };
  return {
    async heapAfterCollection() {
      // The second collection frees the memory that finalisers released.
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
