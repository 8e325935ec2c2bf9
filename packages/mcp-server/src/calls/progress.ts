import type { Notification, ProgressToken } from '@modelcontextprotocol/server';

/** Interval of heartbeats to a client: the shortest known timeout of a client is 5 s. */
const HEARTBEAT_MS = 4_000;

/** Shortest time between two notifications about output. */
const OUTPUT_INTERVAL_MS = 500;

/** Reports the progress of a call to a client. */
interface ProgressReporter {
  /** Reports a piece of output. */
  output(delta: string): void;
  /** Ends the reports of a call. */
  stop(): void;
}

/** Options of {@link reportProgress}. */
interface ProgressOptions {
  /** The client's token. Without a token, no progress is sent. */
  readonly token: ProgressToken | undefined;
  readonly notify: (notification: Notification) => Promise<void>;
  /** Time between heartbeats. */
  readonly heartbeatMs?: number | undefined;
}

/**
 * Sends progress notifications while a call runs: a heartbeat, and the number of output characters. Only the result has the
 * output, marked as the agent's.
 */
export function reportProgress(options: ProgressOptions): ProgressReporter {
  const { token, notify } = options;
  if (token === undefined) return { output: () => undefined, stop: () => undefined };
  const startedAtMs = performance.now();
  let progress = 0;
  let characters = 0;
  let lastOutputAtMs = Number.NEGATIVE_INFINITY;

  const send = (message: string): void => {
    progress += 1;
    const params = { progressToken: token, progress, message };
    // The call itself notices a lost client.
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  const heartbeat = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAtMs) / 1000);
    send(`running for ${seconds} s, ${characters} characters of output`);
  }, options.heartbeatMs ?? HEARTBEAT_MS);

  send('started');
  return {
    output: (delta) => {
      characters += delta.length;
      const nowMs = performance.now();
      if (nowMs - lastOutputAtMs < OUTPUT_INTERVAL_MS) return;
      lastOutputAtMs = nowMs;
      send(`${characters} characters of output`);
    },
    stop: () => clearInterval(heartbeat),
  };
}
