export { loadKeypair } from './authority.js';
export { createChain, type Chain, type ProgramSignature } from './chain.js';
export { apiErrorOfTransaction } from './on-chain-error.js';
export { readProtocol, type ProtocolTerms } from './protocol.js';
