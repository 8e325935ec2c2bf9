import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { listenNode } from '@agent-rental/stand-in';

/** How the agent works on a task. It is the first word of the task. */
export type WayToWork = 'answer' | 'work' | 'stream' | 'refuse' | 'linger';

/** The endpoint of a connected agent, on loopback. */
export interface FaultAgent {
  readonly origin: string;
  readonly url: string;
  /** Whether tasks with `refuse` and `linger` fail. If false, the agent answers all tasks. */
  isDown: boolean;
  /** Resolves when a task with that text has arrived. */
  received(task: string): Promise<void>;
  close(): Promise<void>;
}

/** The agent's answer to each task. */
export const ANSWER = 'the answer, in two parts';
const WORK_MS = 300;

/** Starts the agent. While `isDown`, `linger` never answers, and `refuse` answers like a gateway without its agent. */
export async function startFaultAgent(): Promise<FaultAgent> {
  const arrived = new EventEmitter();
  const tasks = new Set<string>();
  const { baseUrl: origin, close } = await listenNode(async (request) => {
    const { task } = (await request.json()) as { task?: string };
    // A probe of the service has no task.
    if (task === undefined) return new Response();
    tasks.add(task);
    arrived.emit(task);
    const [way] = task.split(' ');
    if (way === 'refuse' && agent.isDown) return new Response(null, { status: 503 });
    if (way === 'linger' && agent.isDown) return new Promise(() => undefined);
    if (way === 'work') await delay(WORK_MS);
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
    received: async (task) => {
      if (!tasks.has(task)) await once(arrived, task);
    },
    close,
  };
  return agent;
}
