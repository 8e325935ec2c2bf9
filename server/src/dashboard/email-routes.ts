import { EMAIL_PATHS, emailToken } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import type { EmailAddresses } from '../events/index.js';
import { emailDonePage, emailPage } from './pages/email-page.js';
import { sendPage } from './send-page.js';

/** Bytes of a form without fields, or of a mail program's one click. */
const MOST_BODY_BYTES = 1_024;

/** Adds the pages that messages lead to. A mail program unsubscribes by the POST alone (RFC 8058). */
export function emailPageRoutes(
  app: FastifyInstance,
  addresses: Pick<EmailAddresses, 'confirm' | 'unsubscribe'>,
): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // The address says all.
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null));
    const options = { bodyLimit: MOST_BODY_BYTES, config: { auth: 'none' } } as const;
    for (const kind of ['confirm', 'unsubscribe'] as const) {
      scope.get<{ Querystring: { token?: unknown } }>(EMAIL_PATHS[kind], options, ({ query }, reply) =>
        sendPage(reply, emailPage(kind, tokenOf(query))),
      );
    }
    scope.post<{ Querystring: { token?: unknown } }>(
      EMAIL_PATHS.confirm,
      options,
      async ({ query }, reply) => {
        if (await addresses.confirm(tokenOf(query)))
          return sendPage(reply, emailDonePage('The address is confirmed.'));
        throw new ApiError('not_found', 'This link works no more.', { next: 'Ask for a new message.' });
      },
    );
    scope.post<{ Querystring: { token?: unknown } }>(
      EMAIL_PATHS.unsubscribe,
      options,
      async ({ query }, reply) => {
        await addresses.unsubscribe(tokenOf(query));
        return sendPage(reply, emailDonePage('No more messages will come.'));
      },
    );
  });
}

/** @throws ApiError `not_found` for an address that no message has. */
function tokenOf({ token }: { token?: unknown }): string {
  const parsed = emailToken.safeParse(token);
  if (parsed.success) return parsed.data;
  throw new ApiError('not_found', 'This link is not whole.', { next: 'Open the link of the message.' });
}
