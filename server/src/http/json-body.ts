import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { ApiError } from './api-error.js';

/** Reads JSON bodies as strictly as JSON is defined: UTF-8 alone, and no key that could reach a prototype. */
export function addJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    // Many clients name the type of a body that they do not send. Whoever needs one says so.
    if (body.length === 0) {
      done(null, undefined);
      return;
    }
    // A decoder would put replacement characters in their place, and so change what was sent.
    if (!isUtf8(body)) {
      done(new ApiError('invalid_request', 'The body is not valid UTF-8.'));
      return;
    }
    void parse(request, body.toString('utf8'), done);
  });
}

/** What is read and thrown away of a body that is too large. */
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
