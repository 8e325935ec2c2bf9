export { reconcileWithChain } from './reconcile.js';
export { RECONCILIATION_CRONTAB, RECONCILIATION_TASK } from './schedule.js';
