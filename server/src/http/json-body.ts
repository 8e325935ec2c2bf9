import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import { operations } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { WorkerPool } from '../platform/worker-pool.js';
import { ApiError } from '../errors/api-error.js';
import type { BodyAnswer, BodyQuestion } from './json-body-worker.js';
import { measureJson } from '../platform/json/json-size.js';

const WORKER = fileURLToPath(new URL('../../dist/http/json-body-worker.js', import.meta.url));
/** Bodies beyond one of these are read in a separate thread. */
const READ_AT_ONCE = { bytes: 64 * 1024, values: 2_000 };
/** Bodies of so few bytes are not measured: all that they can hold is read in a millisecond. */
const NOT_MEASURED_BYTES = 2 * 1024;
const THREADS = 2;
/** Longest that reading one body may take: honest ones take tens of milliseconds; the rest is room for busy machines. */
const DEADLINE_MS = 5_000;
/** Bodies that may wait for a thread: these are in memory. */
const MOST_WAITING = 64;

/** A body that was checked by the schema of its operation where it was read. */
export class CheckedBody {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

const readers = new WorkerPool<BodyQuestion, BodyAnswer>(WORKER, { most: THREADS, deadlineMs: DEADLINE_MS });

/** Whether reading a body could hold the event loop for longer than an ordinary request. */
export function isLarge(body: Uint8Array): boolean {
  if (body.length <= NOT_MEASURED_BYTES) return false;
  if (body.length > READ_AT_ONCE.bytes) return true;
  const { values } = READ_AT_ONCE;
  return measureJson(body, { values, depth: values }).values > values;
}

/**
 * Reads a large JSON body outside the event loop, and checks it by the schema of an operation where one is named.
 *
 * @throws ApiError `invalid_request` for a body that is no JSON, has too many values or levels, or breaks the schema.
 */
export async function readLargeJson(body: Uint8Array, operationId?: string): Promise<unknown> {
  if (readers.waiting >= MOST_WAITING) {
    throw new ApiError('service_unavailable', 'Too many large requests are being read.', {
      next: 'Try again.',
    });
  }
  const answer = await readers.ask({ body, operationId });
  if (answer === 'late') throw new ApiError('invalid_request', 'The body is too intricate to be read.');
  if ('refusal' in answer) throw new ApiError('invalid_request', answer.refusal, { next: answer.next });
  return answer.value;
}

/** The result of a route's parser for a large body: marked as checked where the operation has a schema that the thread knows. */
async function readChecked(body: Buffer, operationId: string | undefined): Promise<unknown> {
  const value = await readLargeJson(body, operationId);
  return operationId !== undefined && Object.hasOwn(operations, operationId) ? new CheckedBody(value) : value;
}

/** Reads JSON bodies as strictly as JSON is defined: UTF-8 alone, and no key that could reach a prototype. */
export function addJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  // No route takes it; without a parser it is 415.
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    // Many clients name the type of a body that they do not send. Routes that need a body refuse its absence.
    if (body.length === 0) {
      done(null, undefined);
      return undefined;
    }
    if (isLarge(body)) return readChecked(body, request.routeOptions.config.operationId);
    // A decoder would put replacement characters in their place, and so change the body.
    if (!isUtf8(body)) {
      done(new ApiError('invalid_request', 'The body is not valid UTF-8.'));
      return undefined;
    }
    const text = body.toString('utf8');
    void parse(request, text, (error, value) => done(error && realReason(error, text), value));
    return undefined;
  });
}

/** The parser calls a body with a forbidden name no JSON. */
function realReason(error: Error, text: string): Error {
  try {
    JSON.parse(text);
    const names = 'a member named "__proto__", or "prototype" in "constructor"';
    return new ApiError('invalid_request', `The body has ${names}. These names are not taken.`);
  } catch {
    return error;
  }
}

/** How much of a too large body is read and thrown away. */
const DISCARDED_MOST_BYTES = 16 * 1024 * 1024;

/**
 * Waits until a refused body has arrived, within a bound: a sender whose connection is cut while it sends does
 * not get to read why.
 */
export function discardBody(body: IncomingMessage): Promise<void> {
  let left = DISCARDED_MOST_BYTES;
  return new Promise((resolve) => {
    const done = () => resolve();
    if (body.readableEnded || body.destroyed) return done();
    body.once('end', done).once('close', done).once('error', done);
    body.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) done();
    });
    body.resume();
  });
}
