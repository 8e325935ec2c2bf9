import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Attack } from '@agent-rental/sandbox/conformance';

/** A model server on loopback that has its agent run the code that the task names. */
export interface AttackModel {
  readonly url: string;
  /** How often it had its agent run code that attacks. */
  readonly told: number;
  close(): Promise<void>;
}

/** Code that a task names. */
export type RunCode = Pick<Attack, 'name' | 'language' | 'code'>;

/** Code of the runs that attack nothing. */
const HONEST: Pick<Attack, 'language' | 'code'> = { language: 'javascript', code: 'return 6 * 7;' };

/** Task of a run with an attack, or of an honest run. */
export const taskOf = (attack?: RunCode): string => `code <${attack?.name ?? 'honest'}>`;

/** Starts the model: its first answer calls the tool with the code, its second one ends the run. */
export async function startAttackModel(attacks: readonly RunCode[]): Promise<AttackModel> {
  let told = 0;
  const byName = new Map(attacks.map((attack) => [attack.name, attack]));
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { messages } = JSON.parse(body) as { messages: { role: string; content: unknown }[] };
      const isAnswered = messages.some(({ role }) => role === 'tool');
      const task = JSON.stringify(messages.find(({ role }) => role === 'user')?.content ?? '');
      const attack = byName.get(/code <([^>]*)>/.exec(task)?.[1] ?? '');
      const { language, code } = attack ?? HONEST;
      if (attack && !isAnswered) told += 1;
      if (isAnswered) answerText(response, 'done');
      else callTool(response, `run_${language}`, { code });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get told() {
      return told;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function answerText(response: ServerResponse, content: string): void {
  stream(response, [{ delta: { role: 'assistant', content } }], 'stop');
}

function callTool(response: ServerResponse, name: string, args: object): void {
  const call = {
    index: 0,
    id: 'call-1',
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  };
  stream(response, [{ delta: { role: 'assistant', content: null, tool_calls: [call] } }], 'tool_calls');
}

function stream(response: ServerResponse, parts: { delta: object }[], reason: string): void {
  const chunk = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 0,
      model: 'stand-in',
      choices: [{ index: 0, delta, finish_reason: finish }],
    })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(
    [...parts.map(({ delta }) => chunk(delta, null)), chunk({}, reason), 'data: [DONE]\n\n'].join(''),
  );
}
