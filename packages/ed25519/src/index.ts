export { isPublicKey, verifySignature } from './verify.js';
export type { SignedMessage } from './equation.js';
