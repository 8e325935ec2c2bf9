import { operations } from '@agent-rental/contract';
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
  addOperation(app, operations.submitTransaction, async ({ principal, body: { transaction } }) => {
    const { wallet } = principal;
    for (const scope of transactions.scopesOf(wallet, transaction)) requireScope(principal, [scope]);
    return transactions.submit(wallet, transaction, spending.allowanceOf(principal));
  });
}
