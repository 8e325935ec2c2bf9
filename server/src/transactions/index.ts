export { createProposalBuilder } from './proposals.js';
export { createRentalCosts, type RentalCosts } from './rental-costs.js';
export { transactionRoutes } from './routes.js';
export { createTransactionService } from './service.js';
