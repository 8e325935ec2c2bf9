import { operations, TRANSACTION_SCOPES, type TransactionRequest } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import type { Spending } from '../spending/index.js';
import { addOperation } from '../http/operation-route.js';
import type { Principal } from '../access/principal.js';
import { requireScope } from '../access/scopes.js';
import { ApiError } from '../errors/api-error.js';
import type { TransactionService } from './service.js';

/** Routes of transactions to sign and of signed ones. */
export function transactionRoutes(
  app: FastifyInstance,
  transactions: TransactionService,
  spending: Spending,
): void {
  addOperation(app, operations.createTransaction, async ({ principal, body }) => {
    requireOwnYes(principal, body);
    return transactions.propose(principal.wallet, body, spending.allowanceOf(principal));
  });
  addOperation(app, operations.submitTransaction, async ({ principal, body: { transaction, request } }) => {
    const { wallet } = principal;
    if (request) requireOwnYes(principal, request);
    for (const scope of transactions.scopesOf(wallet, transaction)) requireScope(principal, [scope]);
    if (request) requireScope(principal, [TRANSACTION_SCOPES[request.action]]);
    return transactions.submit(wallet, transaction, spending.allowanceOf(principal), request);
  });
}

/** @throws ApiError 403 for an API key or a connected app that would pay for a renewal that adds little. */
function requireOwnYes({ apiKey }: Principal, request: TransactionRequest): void {
  if (apiKey === undefined || request.action !== 'renew' || request.early !== true) return;
  throw new ApiError('credential_not_found', 'No API key or connected app may send `early: true`.', {
    next: "Nothing was paid. Renew later, or with the token of a wallet's login.",
  });
}
