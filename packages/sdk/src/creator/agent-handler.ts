import type { Json } from '@agent-rental/contract';
import { Webhook } from 'standardwebhooks';
import * as z from 'zod';

/** A task for a connected agent, as the marketplace sends it. */
export const agentTask = z.object({
  run_id: z.string(),
  agent_id: z.string(),
  task: z.string(),
  input: z.json().optional(),
  input_uri: z.string().optional(),
  timeout_seconds: z.int(),
});
export type AgentTask = z.infer<typeof agentTask>;

/**
 * Text as it is written, piece by piece. A generator may return the output; without one, the pieces together are it.
 */
export type AnswerPieces = AsyncIterable<string> | AsyncGenerator<string, Json | void, undefined>;

/**
 * Does the work: gets the task, returns what the agent's output schema declares. An `async function*` yields an answer in
 * free text while it is written; a renter who streams reads it as it comes.
 */
export type AgentFunction = (
  task: AgentTask,
  context: { signal: AbortSignal },
) => Promise<Json | AnswerPieces> | Json | AnswerPieces;

export interface AgentHandlerOptions {
  /** Shown once when the agent was registered. */
  webhookSecret: string;
  run: AgentFunction;
  /** Called with every error that `run` throws; the caller only learns that the run failed. */
  onError?: (error: unknown) => void;
}

const json = (status: number, body: unknown): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });

/**
 * Makes the web-standard handler of a connected agent. It verifies the Standard Webhooks signature, so that
 * only the marketplace can make it work, and answers with what `run` returns.
 */
export function createAgentHandler(options: AgentHandlerOptions): (request: Request) => Promise<Response> {
  const webhook = new Webhook(options.webhookSecret);
  return async (request) => {
    if (request.method !== 'POST') return json(405, { error: 'Send tasks with POST.' });
    const body = await request.text();
    let task: AgentTask;
    try {
      webhook.verify(body, {
        'webhook-id': request.headers.get('webhook-id') ?? '',
        'webhook-timestamp': request.headers.get('webhook-timestamp') ?? '',
        'webhook-signature': request.headers.get('webhook-signature') ?? '',
      });
      task = agentTask.parse(JSON.parse(body));
    } catch {
      return json(401, { error: 'The signature does not match, or the task is malformed.' });
    }
    try {
      const answer = await options.run(task, { signal: request.signal });
      return isPieces(answer) ? eventStream(answer, options.onError) : json(200, answer);
    } catch (error) {
      options.onError?.(error);
      return json(500, { error: 'The agent failed.' });
    }
  };
}

function isPieces(answer: Json | AnswerPieces): answer is AnswerPieces {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
}

/** Sends each piece as an `output` event, and at the end one `done`. A closed connection ends the generator. */
function eventStream(pieces: AnswerPieces, onError: AgentHandlerOptions['onError']): Response {
  const encoder = new TextEncoder();
  const iterator = pieces[Symbol.asyncIterator]() as AsyncIterator<string, Json | void, undefined>;
  const event = (name: string, data: unknown) =>
    encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  let isGone = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      let last: Uint8Array;
      try {
        const { done, value } = await iterator.next();
        if (isGone) return;
        if (!done) {
          controller.enqueue(event('output', { delta: value }));
          return;
        }
        last = event('done', value === undefined ? {} : { output: value });
      } catch (error) {
        onError?.(error);
        if (isGone) return;
        last = event('done', { status: 'failed' });
      }
      controller.enqueue(last);
      controller.close();
    },
    async cancel() {
      isGone = true;
      await iterator.return?.();
    },
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  });
}
