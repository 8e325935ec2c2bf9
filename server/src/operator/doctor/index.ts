export { describeFindings, examine, hasProblem } from './doctor.js';
