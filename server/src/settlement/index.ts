export { createChargeRepository } from './charge-repository.js';
export { createChargeSigner } from './charge-transaction.js';
export { createReceiptSigner, type ReceiptSigner } from './receipt-signer.js';
export { createReconciler } from './reconciler.js';
export { ChargePendingError, createSettlement, type SentCharge, type Settlement } from './settlement.js';
export type { ReservedCharge } from './charge.js';
export { earningsRoutes } from './earnings.js';
