import { operations, TRANSACTION_SCOPES } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import type { Spending } from '../spending/index.js';
import { addOperation } from '../http/operation-route.js';
import { requireScope } from '../access/scopes.js';
import type { TransactionService } from './service.js';

/** Routes of transactions to sign and of signed ones. */
export function transactionRoutes(
  app: FastifyInstance,
  transactions: TransactionService,
  spending: Spending,
): void {
  addOperation(app, operations.createTransaction, async ({ principal, body }) =>
    transactions.propose(principal.wallet, body, spending.allowanceOf(principal)),
  );
  addOperation(app, operations.submitTransaction, async ({ principal, body: { transaction, request } }) => {
    const { wallet } = principal;
    for (const scope of transactions.scopesOf(wallet, transaction)) requireScope(principal, [scope]);
    if (request) requireScope(principal, [TRANSACTION_SCOPES[request.action]]);
    return transactions.submit(wallet, transaction, spending.allowanceOf(principal), request);
  });
}
