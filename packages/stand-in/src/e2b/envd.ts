import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { decodeFrames, encodeEnd, encodeFrame } from './connect-frames.js';
import type { Machine, MachineCommand } from './machine.js';

/** An error as Connect's unary calls have it. */
class RpcError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The fields of the service's calls. */
interface ProcessCall {
  process?: { pid?: number } & Partial<MachineCommand>;
  input?: { stdin?: string };
  signal?: string;
}

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** The daemon in every sandbox of E2B, which serves the SDK: files over HTTP, processes over Connect. */
export async function answerAsEnvd(
  machine: Machine,
  request: IncomingMessage,
  response: ServerResponse,
  inputDelayMs: () => number,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stand-in.invalid');
  try {
    switch (`${request.method} ${pathname}`) {
      case 'GET /health':
        response.writeHead(204).end();
        return;
      case 'POST /files':
        answerJson(response, 200, await upload(machine, request, searchParams.get('path')));
        return;
      case 'POST /process.Process/Start':
        startProcess(machine, await readBody(request), response);
        return;
      case 'POST /process.Process/SendInput':
        await delay(inputDelayMs());
        await sendInput(machine, await readCall(request));
        break;
      case 'POST /process.Process/CloseStdin':
        findProcess(machine, await readCall(request)).stdin.end();
        break;
      case 'POST /process.Process/SendSignal':
        findProcess(machine, await readCall(request)).kill('SIGKILL');
        break;
      default:
        throw new RpcError(404, 'unimplemented', `${request.method} ${pathname}`);
    }
    answerJson(response, 200, {});
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    answerJson(response, error.status, { code: error.code, message: error.message });
  }
}

async function readCall(request: IncomingMessage): Promise<ProcessCall> {
  return JSON.parse((await readBody(request)).toString()) as ProcessCall;
}

function findProcess(machine: Machine, { process }: ProcessCall): ChildProcessWithoutNullStreams {
  const child = machine.find(process?.pid ?? 0);
  if (child === undefined) throw new RpcError(404, 'not_found', `process ${process?.pid} not found`);
  return child;
}

async function upload(machine: Machine, request: IncomingMessage, path: string | null): Promise<object[]> {
  const type = request.headers['content-type'] ?? '';
  const body = new Uint8Array(await readBody(request));
  const form = await new Response(body, { headers: { 'content-type': type } }).formData();
  const written: object[] = [];
  for (const [, part] of form) {
    if (typeof part === 'string') continue;
    const target = path ?? part.name;
    machine.write(target, new Uint8Array(await part.arrayBuffer()));
    written.push({ name: target.split('/').at(-1), type: 'file', path: machine.pathOf(target) });
  }
  return written;
}

/** Answered when the process has a place for the bytes, as a full pipe makes the real one wait. */
async function sendInput(machine: Machine, call: ProcessCall): Promise<void> {
  const { stdin } = findProcess(machine, call);
  const bytes = Buffer.from(call.input?.stdin ?? '', 'base64');
  await new Promise<void>((resolve, reject) => {
    const onGone = () => reject(new RpcError(503, 'unavailable', 'the machine is gone'));
    machine.gone.addEventListener('abort', onGone, { once: true });
    stdin.write(bytes, (error) => {
      machine.gone.removeEventListener('abort', onGone);
      if (error) reject(new RpcError(500, 'internal', error.message));
      else resolve();
    });
  });
}

function startProcess(machine: Machine, body: Buffer, response: ServerResponse): void {
  const call = decodeFrames(body)[0]?.message as ProcessCall;
  response.writeHead(200, { 'content-type': 'application/connect+json' });
  const send = (event: object): boolean => response.write(encodeFrame({ event }));
  const child = machine.start({ cmd: '/bin/bash', ...call.process });
  child.once('spawn', () => send({ start: { pid: child.pid } }));
  child.once('error', ({ message }) => response.end(encodeEnd({ code: 'invalid_argument', message })));
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = child[name];
    stream.on('data', (chunk: Buffer) => {
      if (response.destroyed || send({ data: { [name]: chunk.toString('base64') } })) return;
      stream.pause();
      response.once('drain', () => stream.resume());
    });
    // A client that hangs up does not end its process.
    response.once('close', () => stream.resume());
  }
  child.once('close', (code, signal) => {
    if (machine.gone.aborted) return;
    const status = signal === null ? `exit status ${code}` : 'signal: killed';
    send({
      end: {
        exitCode: code ?? -1,
        exited: signal === null,
        status,
        ...(code === 0 ? {} : { error: status }),
      },
    });
    response.end(encodeEnd());
  });
  // The connection breaks where the machine ends.
  machine.gone.addEventListener('abort', () => response.destroy(), { once: true });
}
