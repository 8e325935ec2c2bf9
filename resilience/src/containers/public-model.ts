import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startVendor } from '@agent-rental/stand-in';

const run = promisify(execFile);
const NAME = 'api.openai.com';
/**
 * A public address, because servers refuse private ones. The battery adds it to the loopback interface, so that no request to
 * it leaves the machine.
 */
const ADDRESS = '11.193.7.1';
const ANSWER = ['You are paid after ', 'we have received it.'];

export type PublicModel = Awaited<ReturnType<typeof startPublicModel>>;

function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

/** Starts a stand-in for OpenAI at a public address of this machine. Needs root. */
export async function startPublicModel(folder: string) {
  const certificate = join(folder, 'model.crt');
  const key = join(folder, 'model.key');
  const subject = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`];
  const made = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  await run('openssl', ['req', ...made, ...subject, '-keyout', key, '-out', certificate]);
  const vendor = await startVendor('openai', () => ({ text: [...ANSWER] }));
  await run('ip', ['address', 'add', `${ADDRESS}/32`, 'dev', 'lo']);
  const held: Record<'asked' | 'begin' | 'end', ReturnType<typeof gate>>[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const one = held.shift();
    one?.asked.open();
    const answered = await fetch(vendor.baseUrl + request.url, {
      method: request.method ?? 'POST',
      headers: {
        authorization: request.headers.authorization ?? '',
        'content-type': request.headers['content-type'] ?? 'application/json',
      },
      body: Buffer.concat(chunks),
    });
    const text = await answered.text();
    await one?.begin.opened;
    response.writeHead(answered.status, { 'content-type': answered.headers.get('content-type') ?? '' });
    const half = text.indexOf('data:', text.indexOf(ANSWER[0] ?? ''));
    response.write(text.slice(0, half));
    await one?.end.opened;
    response.end(text.slice(half));
  }

  const identity = { key: await readFile(key), cert: await readFile(certificate) };
  const server = createServer(identity, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(443, ADDRESS);
  await once(server, 'listening');
  return {
    name: NAME,
    address: ADDRESS,
    /** Servers have to trust it. */
    certificate,
    answer: ANSWER.join(''),
    /** Holds the next answer back. `asked` resolves at its request, `begin` sends the first half, and `end` sends the rest. */
    hold() {
      const one = { asked: gate(), begin: gate(), end: gate() };
      held.push(one);
      return { asked: one.asked.opened, begin: one.begin.open, end: one.end.open };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await vendor.close();
      await run('ip', ['address', 'delete', `${ADDRESS}/32`, 'dev', 'lo']);
    },
  };
}
