export { createMpp } from './mpp.js';
export { createMppChallenges } from './mpp-challenge.js';
export { createPaymentRepository, removeFailedPayments } from './payment-repository.js';
export { payPerCallRoutes } from './routes.js';
export { createPayPerCall, type PayPerCall } from './service.js';
export { createSettler, type Settler } from './settle.js';
export { createTransferSigner } from './transfer.js';
