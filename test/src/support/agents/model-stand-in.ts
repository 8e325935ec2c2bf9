import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One call of the model. */
export interface ModelCall {
  /** The request as it came, its key included. */
  body: string;
  key: string;
  answer(text: string): void;
  /** Ends the answer with a refusal of the model, as vendors do. */
  decline(): void;
  refuse(status: number, message: string): void;
}

/** A model server on loopback that answers when the test says so. */
export interface ModelStandIn {
  /** For `MODEL_BASE_URL`. */
  readonly baseUrl: string;
  /** The next call; waits for it. */
  nextCall(): Promise<ModelCall>;
  /** Answers all further calls with that text by itself; undefined: the test answers again. */
  always(text: string | undefined): void;
  /** Answers requests outside `/v1`, for instance as a connected agent: it may have the same address. */
  answerOthers(handle: (request: Request) => Promise<Response>): void;
  close(): Promise<void>;
}

/** Starts a server that speaks as an OpenAI-compatible one does, streaming. */
export async function startModelStandIn(): Promise<ModelStandIn> {
  const calls: ModelCall[] = [];
  const waiting: ((call: ModelCall) => void)[] = [];
  let standing: string | undefined;
  let others: (request: Request) => Promise<Response> = async () => new Response(null, { status: 404 });
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      if (!request.url?.startsWith('/v1/')) {
        void relay(request, body, response, others);
        return;
      }
      // The service asks whether the model is there; no test waits for that.
      if (body.includes('Are you there?')) {
        writeCompletion(response, 'Yes', 'stop');
        return;
      }
      const call: ModelCall = {
        body,
        key: request.headers.authorization?.replace('Bearer ', '') ?? '',
        answer: (text) => writeCompletion(response, text, 'stop'),
        decline: () => writeCompletion(response, '', 'content_filter'),
        refuse: (status, message) =>
          void response
            .writeHead(status, { 'content-type': 'application/json' })
            .end(JSON.stringify({ error: { message } })),
      };
      if (standing !== undefined) call.answer(standing);
      else if (waiting[0]) waiting.shift()?.(call);
      else calls.push(call);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    nextCall: async () => calls.shift() ?? new Promise((resolve) => waiting.push(resolve)),
    answerOthers: (handle) => (others = handle),
    always: (text) => (standing = text),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function relay(
  { url = '/', method = 'GET', headers }: IncomingMessage,
  body: string,
  response: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const asked = new Request(`http://agent.invalid${url}`, {
    method,
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
    ...(method === 'POST' ? { body } : {}),
  });
  const answer = await handle(asked);
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
}

function writeCompletion(response: ServerResponse, text: string, reason: string): void {
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 0,
      model: 'stand-in',
      choices: [{ index: 0, delta, finish_reason: finish }],
    })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk({ role: 'assistant', content: text }, null));
  response.write(chunk({}, reason));
  response.end('data: [DONE]\n\n');
}
