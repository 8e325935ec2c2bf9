export { loadKeypair } from './authority.js';
export { createChain, type Chain, type ProgramSignature } from './chain.js';
export { apiErrorOfTransaction } from './on-chain-error.js';
export { createPriorityFees, type PriorityFees } from './priority-fees.js';
export { createProtocolReader, type ProtocolReader, type ProtocolTerms } from './protocol.js';
