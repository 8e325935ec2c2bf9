import { operations } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/api-error.js';
import { addOperation } from '../../http/operation-route.js';
import type { EmailAddresses } from './addresses.js';

/** Adds the operations of e-mail addresses. */
export function emailRoutes(app: FastifyInstance, addresses: EmailAddresses): void {
  addOperation(app, operations.getEmail, ({ principal: { wallet } }) => addresses.settings(wallet));
  addOperation(app, operations.setEmail, ({ principal: { wallet, address }, body }) =>
    addresses.set({ wallet, network: address }, body),
  );
  addOperation(app, operations.confirmEmail, async ({ principal: { wallet }, body }) => {
    if (await addresses.confirm(body.token, wallet)) return addresses.settings(wallet);
    throw new ApiError('not_found', 'No e-mail address of this wallet waits for this token.', {
      next: 'PUT /v1/email sends a new one.',
    });
  });
  addOperation(app, operations.deleteEmail, ({ principal: { wallet } }) => addresses.remove(wallet));
}
