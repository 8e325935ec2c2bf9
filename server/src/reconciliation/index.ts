export { compareCharges } from './compare-charges.js';
export { reconcileWithChain } from './reconcile.js';
export { RECONCILIATION_CRONTAB, RECONCILIATION_TASK } from './schedule.js';
