import { Agent, request } from 'node:http';

/** A request: a POST with a body, or a GET without one. */
interface Asked {
  readonly url: string;
  /** Absent: without credentials. */
  readonly bearer?: string;
  readonly body?: object;
}

/** An answer. `ms` is the time from the request to its end. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

/** Callers over kept connections. Each sends its next request at once after an answer. */
export interface Load {
  readonly callers: number;
  /** Returns the next request of a caller. undefined ends that caller. */
  next(caller: number): Asked | undefined;
  /** Takes each answer. An error that it throws ends the load. */
  take(answer: Answer): void;
}

/** Sends a load until all callers have ended. */
export async function sendLoad({ callers, next, take }: Load): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  try {
    await Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        for (let asked = next(caller); asked; asked = next(caller)) take(await send(agent, asked));
      }),
    );
  } finally {
    agent.destroy();
  }
}

function send(agent: Agent, { url, bearer, body }: Asked): Promise<Answer> {
  const startedAt = performance.now();
  const headers = {
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    ...(body ? { 'content-type': 'application/json' } : {}),
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent, headers, method: body ? 'POST' : 'GET' }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.once('error', reject).once('end', () => {
        resolve({ status: response.statusCode ?? 0, text, ms: performance.now() - startedAt });
      });
    });
    outgoing.once('error', reject).end(body && JSON.stringify(body));
  });
}

/** Refuses an answer that is no 200 or lacks the text. @throws Error with the answer. */
export function requireGood({ status, text }: Answer, expected = ''): void {
  if (status !== 200 || !text.includes(expected)) throw new Error(`The answer was ${status}: ${text}`);
}
