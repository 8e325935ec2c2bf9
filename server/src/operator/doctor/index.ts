export { describeFindings, DOCTOR_HELP, examine, hasProblem, parseDoctor } from './doctor.js';
