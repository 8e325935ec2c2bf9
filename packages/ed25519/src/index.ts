export { isPublicKey, verifySignature, type SignedMessage } from './verify.js';
