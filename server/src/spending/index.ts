export {
  createSpending,
  removeOldSpends,
  type Allowance,
  type Spending,
  type SpendingCall,
} from './allowance.js';
export { createApprovalRepository, removeOldApprovals } from './repository.js';
export { approvalRoutes } from './routes.js';
export { createSpendingApprovals } from './service.js';
