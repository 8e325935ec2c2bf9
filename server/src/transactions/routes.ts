import { operations } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { addOperation } from '../platform/operation-route.js';
import type { TransactionService } from './service.js';

/** Routes of transactions to sign and of signed ones. */
export function transactionRoutes(app: FastifyInstance, transactions: TransactionService): void {
  addOperation(app, operations.createTransaction, async ({ principal, body }) =>
    transactions.propose(principal.wallet, body),
  );
  addOperation(app, operations.submitTransaction, async ({ principal, body }) =>
    transactions.submit(principal.wallet, body.transaction),
  );
}
