import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import secureJson from 'secure-json-parse';
import { ApiError } from '../errors/api-error.js';
import { checkStrangersJson, JsonTextError, type JsonEntry } from '../platform/json/json-gate.js';

const FORBIDDEN_NAMES = { protoAction: 'error', constructorAction: 'error' } as const;
const TAKES_MANIFEST: ReadonlySet<string | undefined> = new Set(['registerAgent', 'updateAgent']);

/** Reads JSON bodies as strictly as JSON is defined: UTF-8 alone, within the bounds, and no key that could reach a prototype. */
export function addJsonBodies(app: FastifyInstance): void {
  // No route takes it; without a parser it is 415.
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      // Many clients name the type of a body that they do not send. Routes that need a body refuse its absence.
      if (body.length === 0) return undefined;
      // A decoder would put replacement characters in their place, and so change the body.
      if (!isUtf8(body)) throw new ApiError('invalid_request', 'The body is not valid UTF-8.');
      const takesManifest = TAKES_MANIFEST.has(request.routeOptions.config.operationId);
      return readBody(takesManifest ? 'manifest_body' : 'request_body', body.toString('utf8'));
    },
  );
}

/**
 * Reads a body within the bounds of its entry.
 *
 * @throws ApiError `invalid_request` for a text that is no JSON, is beyond a bound, or has a forbidden name or number
 */
async function readBody(entry: JsonEntry, text: string): Promise<unknown> {
  try {
    await checkStrangersJson(entry, text);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    const isTooMuch = entry === 'request_body' && error.fault !== 'number';
    const next = isTooMuch ? 'Send more as a file: POST /v1/files gives an input_uri.' : undefined;
    throw new ApiError('invalid_request', `The body ${error.message}.`, { next });
  }
  try {
    return secureJson.parse(text, FORBIDDEN_NAMES);
  } catch (error) {
    throw new ApiError('invalid_request', `The body ${bodyFault(text, error as Error)}`);
  }
}

/** The parser calls a body with a forbidden name no JSON, too. */
function bodyFault(text: string, { message }: Error): string {
  try {
    JSON.parse(text);
  } catch {
    return `is not JSON: ${message.slice(0, 200)}.`;
  }
  const names = 'a member named "__proto__", or "prototype" in "constructor"';
  return `has ${names}. These names are not taken.`;
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
