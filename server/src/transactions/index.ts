export { createProposalBuilder } from './proposals.js';
export { transactionRoutes } from './routes.js';
export { createTransactionService } from './service.js';
