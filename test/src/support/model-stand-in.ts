import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One call of the model. */
export interface ModelCall {
  /** The request as it came, its key included. */
  body: string;
  key: string;
  answer(text: string): void;
  refuse(status: number, message: string): void;
}

/** A model server on loopback that answers when the test says so. */
export interface ModelStandIn {
  /** For `MODEL_BASE_URL`. */
  readonly baseUrl: string;
  /** The next call; waits for it. */
  nextCall(): Promise<ModelCall>;
  /** Answers all further calls with that text, without being asked; undefined: the test answers again. */
  always(text: string | undefined): void;
  close(): Promise<void>;
}

/** Starts a server that speaks as an OpenAI-compatible one does, streaming. */
export async function startModelStandIn(): Promise<ModelStandIn> {
  const calls: ModelCall[] = [];
  const waiting: ((call: ModelCall) => void)[] = [];
  let standing: string | undefined;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const call: ModelCall = {
        body,
        key: request.headers.authorization?.replace('Bearer ', '') ?? '',
        answer: (text) => writeCompletion(response, text),
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
    always: (text) => (standing = text),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function writeCompletion(response: ServerResponse, text: string): void {
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
  response.write(chunk({}, 'stop'));
  response.end('data: [DONE]\n\n');
}
