import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { ApiError } from './api-error.js';

/** Reads JSON bodies as strictly as JSON is defined: UTF-8 alone, and no key that could reach a prototype. */
export function addJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    // A decoder would put replacement characters in their place, and so change what was sent.
    if (!isUtf8(body)) {
      done(new ApiError('invalid_request', 'The body is not valid UTF-8.'));
      return;
    }
    void parse(request, body.toString('utf8'), done);
  });
}
