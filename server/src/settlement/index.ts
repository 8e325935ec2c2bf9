export { createChargeRepository } from './charge-repository.js';
export { createChargeStates, type ChargeStates } from './charge-states.js';
export { createChargeSigner } from './charge-transaction.js';
export { createReceiptSigner, receiptPayload, type ReceiptSigner } from './receipt-signer.js';
export { createCredits } from './credits.js';
export { createReconciler } from './reconciler.js';
export { ChargePendingError, createSettlement, type SentCharge, type Settlement } from './settlement.js';
export type { ReservedCharge } from './charge.js';
export { earningsRoutes } from './earnings.js';
