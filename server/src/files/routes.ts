import { operations } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { ownerOf } from '../access/owner.js';
import { ApiError } from '../errors/api-error.js';
import { addOperation } from '../http/operation-route.js';
import type { FileService } from './service.js';

/** Routes of the caller's files. */
export async function fileRoutes(app: FastifyInstance, files: FileService): Promise<void> {
  // A separate scope: here a body of any type is an unread stream.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    addOperation(scope, operations.createFile, async ({ principal, request }) => {
      const { raw } = request;
      try {
        // Reading must not close the connection when it ends early: the answer still has to leave on it.
        const content = raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
        return await files.store(ownerOf(principal), request.headers['content-type'], content);
      } catch (error) {
        if (raw.destroyed && !raw.complete) throw new ApiError('invalid_request', 'The upload broke off.');
        throw error;
      } finally {
        // A refused body is read to its end and thrown away, so that its sender sees the answer.
        raw.resume();
      }
    });
  });

  addOperation(app, operations.getFile, ({ principal, params }) =>
    files.find(params.file_id, ownerOf(principal)),
  );

  addOperation(app, operations.deleteFile, async ({ principal, params }) => {
    await files.delete(params.file_id, ownerOf(principal));
    return { file_id: params.file_id, deleted: true as const };
  });
}
