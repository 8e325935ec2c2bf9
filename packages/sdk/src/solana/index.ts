export type {
  ListingChanges,
  PublishTerms,
  RenewTerms,
  RentTerms,
  TopUpTerms,
  WithdrawTerms,
} from './action-terms.js';
export { DEFAULT_MAX_PRIORITY_FEE_LAMPORTS } from './agreement.js';
export { createApiKey } from './api-keys.js';
export type { ApiKeyOptions } from './api-keys.js';
export { confirmChange, rotateWebhookSecret, setModelKey, updateAgent } from './change-agent.js';
export { createMarketplaceWallet } from './marketplace-wallet.js';
export type {
  ActionOptions,
  ConfirmedTransaction,
  MarketplaceWallet,
  MarketplaceWalletOptions,
  WalletConnection,
} from './marketplace-wallet.js';
export { keypairSigner } from './signer.js';
export type { WalletSigner } from './signer.js';
export { checkProposal, inspectProposal, signAndSubmit } from './sign-and-submit.js';
export type { CheckedProposal, SignOptions, SubmittedTransaction } from './sign-and-submit.js';
export {
  close,
  pause,
  publish,
  reclaim,
  renew,
  rent,
  resume,
  topUp,
  update,
  withdraw,
} from './transactions.js';
export { transferSol } from './transfer.js';
export type { ConfirmedTransfer, TransferConnection } from './transfer.js';
export { isUntrustedTransaction, UntrustedTransactionError } from './untrusted-transaction.js';
export type { UntrustedReason } from './untrusted-transaction.js';
export type { DecodedQuote } from './wallet-spend.js';
export { walletStandardSigner } from './wallet-standard.js';
export type { StandardAccount, StandardWallet } from './wallet-standard.js';
