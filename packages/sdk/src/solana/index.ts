export type {
  ListingChanges,
  ModerateTerms,
  PublishTerms,
  RenewTerms,
  RentTerms,
  TopUpTerms,
  WithdrawTerms,
} from './build/action-terms.js';
export { DEFAULT_MAX_PRIORITY_FEE_LAMPORTS } from './verify/agreement.js';
export { createApiKey } from './wallets/api-keys.js';
export { connectApp } from './wallets/apps.js';
export type { ApiKeyOptions } from './wallets/api-keys.js';
export { approveSpending } from './wallets/approve-spending.js';
export {
  confirmChange,
  decideAsOperator,
  rollbackAgent,
  rotateWebhookSecret,
  setModelKey,
  updateAgent,
} from './wallets/change-agent.js';
export { createMarketplaceWallet } from './marketplace-wallet.js';
export type {
  ActionOptions,
  ConfirmedTransaction,
  MarketplaceWallet,
  MarketplaceWalletOptions,
  WalletConnection,
} from './marketplace-wallet.js';
export { callPayer } from './pay-per-call/call-payer.js';
export type { CallPayerOptions, CallPayment } from './pay-per-call/call-payer.js';
export type { PaymentLimits } from './pay-per-call/payment-limits.js';
export { keypairSigner } from './wallets/signer.js';
export type { WalletSigner } from './wallets/signer.js';
export { checkProposal, inspectProposal, signAndSubmit } from './send/sign-and-submit.js';
export type { CheckedProposal, SignOptions, SubmittedTransaction } from './send/sign-and-submit.js';
export {
  close,
  moderate,
  pause,
  publish,
  reclaim,
  renew,
  rent,
  resume,
  revoke,
  topUp,
  update,
  withdraw,
} from './send/transactions.js';
export { transferSol } from './send/transfer.js';
export type { ConfirmedTransfer, TransferConnection } from './send/transfer.js';
export { isUntrustedTransaction, UntrustedTransactionError } from './verify/untrusted-transaction.js';
export type { UntrustedReason } from './verify/untrusted-transaction.js';
export type { DecodedQuote } from './verify/wallet-spend.js';
export { walletStandardSigner } from './wallets/wallet-standard.js';
export type { StandardAccount, StandardWallet } from './wallets/wallet-standard.js';
