import { listenNode } from '@agent-rental/stand-in';

/** How the agent works on a task. A task names it, and the wallet it is for. */
export type WayToWork = 'answer' | 'stream' | 'refuse' | 'linger';

/** The endpoint of a connected agent, on loopback. */
export interface FaultAgent {
  readonly origin: string;
  readonly url: string;
  /** Whether `refuse` and `linger` are taken at their word; else all tasks are answered. */
  isDown: boolean;
  /** Resolves when a task with that text has come in. */
  received(task: string): Promise<void>;
  close(): Promise<void>;
}

/** What is answered to every task. */
const ANSWER = 'the answer, in two parts';

/** Starts the agent. `linger` never answers; `refuse` answers as a gateway does whose agent is gone, while that is so. */
export async function startFaultAgent(): Promise<FaultAgent> {
  const came = new Map<string, { promise: Promise<void>; resolve: () => void }>();
  const arrival = (task: string) => {
    let entry = came.get(task);
    if (!entry) {
      let resolve: () => void = () => undefined;
      const promise = new Promise<void>((done) => (resolve = done));
      came.set(task, (entry = { promise, resolve }));
    }
    return entry;
  };
  const { baseUrl: origin, close } = await listenNode(async (request) => {
    const { task } = (await request.json()) as { task?: string };
    // The service asks whether the agent is there.
    if (task === undefined) return new Response();
    arrival(task).resolve();
    const [way] = task.split(' ');
    if (way === 'refuse' && agent.isDown) return new Response(null, { status: 503 });
    if (way === 'linger' && agent.isDown) return new Promise(() => undefined);
    if (way !== 'stream') return Response.json(ANSWER);
    const deltas = [ANSWER.slice(0, 10), ANSWER.slice(10)];
    const events = deltas.map((delta) => `event: output\ndata: ${JSON.stringify({ delta })}\n\n`);
    const headers = { 'content-type': 'text/event-stream' };
    return new Response(`${events.join('')}event: done\ndata: {}\n\n`, { headers });
  });
  const agent: FaultAgent = {
    origin,
    url: `${origin}/agent`,
    isDown: true,
    received: (task) => arrival(task).promise,
    close,
  };
  return agent;
}
