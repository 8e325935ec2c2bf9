import { createDeadline, type Json } from '@agent-rental/contract';
import { Webhook } from 'standardwebhooks';
import { agentTask, handshake, type AgentFunction, type AnswerPieces } from './agent-task.js';
import { schemaCheck, type AgentSchema } from './schema-check.js';

export interface AgentHandlerOptions {
  /**
   * The secret from the agent's registration. A function is called at every task: use one for a secret that comes later or
   * changes. It returns `undefined` while there is no secret; then every task is refused.
   */
  webhookSecret: string | (() => string | undefined | Promise<string | undefined>);
  run: AgentFunction;
  /** Checks each input before `run` gets it, and converts it by the schema. The marketplace has checked it before. */
  inputSchema?: AgentSchema;
  /** Checks each output before it leaves. `onError` gets its faults; the marketplace does not report them. */
  outputSchema?: AgentSchema;
  /** Called with every error of a task; the caller only learns that the run failed. */
  onError?: (error: unknown) => void;
}

const json = (status: number, body: unknown): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });

/** The parts that both kinds of answers use. */
interface Answering {
  checkOutput(output: unknown): Promise<unknown>;
  onError: ((error: unknown) => void) | undefined;
  /** Called once when the work on the task has ended. */
  end(): void;
}

/**
 * Makes the web-standard handler of a connected agent, for every server of `Request` and `Response`: Hono, Next, Workers,
 * Deno, Bun.
 *
 * - It verifies the Standard Webhooks signature, so that only the marketplace can start work.
 * - It checks input and output, and answers with the return value of `run`.
 * - It answers `GET` with a health status, and a signed handshake without a call of `run`.
 * - It aborts the signal of `run` when the caller has left or the task's deadline has passed.
 */
export function createAgentHandler(options: AgentHandlerOptions): (request: Request) => Promise<Response> {
  const checkInput = schemaCheck(options.inputSchema, 'input');
  const checkOutput = schemaCheck(options.outputSchema, 'output');
  const { onError } = options;
  return async (request) => {
    if (request.method === 'GET' || request.method === 'HEAD') return json(200, { status: 'ok' });
    if (request.method !== 'POST') return json(405, { error: 'Send tasks with POST.' });
    const body = await request.text();
    const secret = await secretOf(options.webhookSecret);
    if (secret === undefined) {
      onError?.(new Error('A task came, and there is no webhook secret yet to verify it with.'));
      return json(503, { error: 'The agent has no webhook secret yet.' });
    }
    const sent = verifiedBody(request, body, secret);
    const hello = handshake.safeParse(sent);
    // Before publication the marketplace tests whether it can work with the agent.
    if (hello.success) return json(200, { challenge: hello.data.challenge });
    const { data: task } = agentTask.safeParse(sent);
    if (task === undefined)
      return json(401, { error: 'The signature does not match, or the task is malformed.' });
    const deadline = createDeadline(task.timeout_seconds * 1000, request.signal);
    const answering: Answering = { checkOutput, onError, end: () => deadline.clear() };
    try {
      const input = await checkInput(task.input);
      const given = input === undefined ? task : { ...task, input: input as Json };
      const answer = await options.run(given, { signal: deadline.signal });
      if (isPieces(answer)) return eventStream(answer, answering);
      const output = await checkOutput(answer);
      deadline.clear();
      return json(200, output);
    } catch (error) {
      deadline.clear();
      onError?.(error);
      return json(500, { error: 'The agent failed.' });
    }
  };
}

async function secretOf(secret: AgentHandlerOptions['webhookSecret']): Promise<string | undefined> {
  return typeof secret === 'string' ? secret : secret();
}

/** The request's content, if the marketplace's signature is right and recent. */
function verifiedBody(request: Request, body: string, secret: string): unknown {
  try {
    new Webhook(secret).verify(body, {
      'webhook-id': request.headers.get('webhook-id') ?? '',
      'webhook-timestamp': request.headers.get('webhook-timestamp') ?? '',
      'webhook-signature': request.headers.get('webhook-signature') ?? '',
    });
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function isPieces(answer: Json | AnswerPieces): answer is AnswerPieces {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
}

/** Sends each piece as an `output` event, then one `done` event. A closed connection ends the generator. */
function eventStream(pieces: AnswerPieces, { checkOutput, onError, end }: Answering): Response {
  const encoder = new TextEncoder();
  const iterator = pieces[Symbol.asyncIterator]() as AsyncIterator<string, Json | void, undefined>;
  const event = (name: string, data: unknown) =>
    encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  let text = '';
  let isGone = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      let last: Uint8Array;
      try {
        const { done, value } = await iterator.next();
        if (isGone) return;
        if (!done) {
          text += value;
          controller.enqueue(event('output', { delta: value }));
          return;
        }
        const output = await checkOutput(value === undefined ? text : value);
        last = event('done', value === undefined ? {} : { output });
      } catch (error) {
        end();
        if (isGone) return;
        onError?.(error);
        last = event('done', { status: 'failed' });
      }
      end();
      controller.enqueue(last);
      controller.close();
    },
    async cancel() {
      isGone = true;
      end();
      await iterator.return?.();
    },
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  });
}
