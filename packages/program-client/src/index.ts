export { MARKETPLACE_PROGRAM_ID } from './program-id.js';
export { MARKETPLACE_IDL } from './idl.js';
export type * from './idl-types.js';
export type { ListingStatus, RentalModel } from './rental-model.js';
export {
  findAccessCredentialAddress,
  findEscrowAddress,
  findListingAddress,
  findPerQueryBalanceAddress,
  findProgramDataAddress,
  findProtocolAddress,
  findRunLogAddress,
  MAX_LISTING_ID_BYTES,
  UPGRADEABLE_LOADER_ID,
  type DerivedAddress,
} from './accounts/addresses.js';
export {
  initializeProtocol,
  updateProtocol,
  type InitializeProtocolInput,
  type UpdateProtocolInput,
} from './instructions/protocol.js';
export {
  closeListing,
  createListing,
  moderateListing,
  updateListing,
  withdrawEarnings,
  type CloseListingInput,
  type CreateListingInput,
  type ModerateListingInput,
  type UpdateListingInput,
  type WithdrawEarningsInput,
} from './instructions/listing.js';
export {
  purchaseOneTime,
  purchasePerQuery,
  purchaseSubscription,
  renewSubscription,
  fundBalance,
  topupBalance,
  type PurchaseOneTimeInput,
  type PurchasePerQueryInput,
  type SubscriptionInput,
  type TopupBalanceInput,
} from './instructions/rental.js';
export {
  consumeQueries,
  consumeQuery,
  revokeAccess,
  revokePerQueryAccess,
  verifyAccess,
  type ConsumeQueryInput,
  type RevokeAccessInput,
  type RevokePerQueryAccessInput,
  type VerifyAccessInput,
} from './instructions/access.js';
export type { InstructionName, ProgramOption } from './instructions/build.js';
export {
  ACCESS_CREDENTIAL_OFFSETS,
  ACCOUNT_DISCRIMINATORS,
  ACCOUNT_SIZES,
  ACCOUNT_VERSION,
  accountName,
  decodeAccessCredential,
  decodeEscrow,
  decodeListing,
  decodePerQueryBalance,
  decodeProtocol,
  ESCROW_OFFSETS,
  LISTING_OFFSETS,
  PER_QUERY_BALANCE_OFFSETS,
  type AccessCredential,
  type AccountName,
  type Escrow,
  type Listing,
  type PerQueryBalance,
  type Protocol,
} from './accounts/accounts.js';
export {
  AccountDecodeError,
  isAccountDecodeError,
  type AccountDecodeReason,
} from './accounts/account-decode-error.js';
export {
  CHARGE_WINDOW_BITS,
  isSequenceConsumed,
  MAX_SEQUENCE_JUMP,
  sequenceState,
  type SequenceState,
} from './accounts/charge-window.js';
export { decodeInstruction, type DecodedInstruction } from './decoding/decode-instruction.js';
export { chargesOf, type DecodedCharge } from './decoding/charges.js';
export {
  decodeEvents,
  type MarketplaceEvent,
  type MarketplaceEventData,
  type MarketplaceEventName,
} from './decoding/events.js';
export {
  decodeProgramError,
  FRAMEWORK_ERRORS,
  PROGRAM_ERRORS,
  splitChargeError,
  type ProgramError,
} from './decoding/errors.js';
export type { BorshValue } from './decoding/borsh.js';
export {
  DEFAULT_FEE_BPS,
  DEFAULT_MIN_QUERY_PRICE_LAMPORTS,
  isChargeablePrice,
  MAX_FEE_BPS,
  MAX_METADATA_URI_BYTES,
  MAX_PRICE_LAMPORTS,
  MIN_PRICE_LAMPORTS,
  PREVIOUS_PRICE_SECONDS,
  protocolFeeLamports,
  SUBSCRIPTION_DURATIONS_SECONDS,
  SUBSCRIPTION_PERIOD_SECONDS,
  subscriptionPriceLamports,
} from './pricing.js';
export {
  canReclaim,
  PAUSE_UNIT_SECONDS,
  PAUSE_WINDOW_SECONDS,
  pausedSeconds,
  RECLAIM_AFTER_PAUSED_SECONDS,
  reclaimableAt,
  reclaimReason,
  type ReclaimReason,
} from './accounts/reclaim.js';
export { decodeClock } from './accounts/clock.js';
export type { PauseHistory } from './accounts/pause-history.js';
export {
  formatRunLogMemo,
  MAX_RUN_LOG_BATCH,
  MEMO_PROGRAM_ID,
  NO_PREVIOUS_ROOT,
  parseRunLogMemo,
  RUN_LOG_COMPUTE_UNITS,
  runLogInstructions,
  type RunLogBatch,
} from './run-log/run-log-memo.js';
