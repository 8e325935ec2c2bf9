export { createApiKey } from './api-keys.js';
export { keypairSigner } from './signer.js';
export type { WalletSigner } from './signer.js';
export { checkProposal, publish, rent, signAndSubmit, UntrustedTransactionError } from './transactions.js';
export type { RentTerms, SignOptions } from './transactions.js';
