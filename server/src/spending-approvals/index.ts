export { createApprovalRepository, removeOldApprovals } from './repository.js';
export { approvalRoutes } from './routes.js';
export { createSpendingApprovals } from './service.js';
