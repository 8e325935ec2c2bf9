export { verifyReceipt, type ReceiptEvidence } from './verify-receipt.js';
export type { ReceiptPart, ReceiptVerification, VerifiedLog } from './verification.js';
