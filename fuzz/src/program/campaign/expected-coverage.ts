import type { Coverage } from './coverage.js';
import { WAYS } from '../model/errors.js';
import {
  CHARGE_ACCOUNTS,
  INSTRUCTION_NAMES,
  instructionRule,
  type AccountRule,
  type InstructionName,
} from '../model/instruction-table.js';

/** Reads the errors in a text. A `~` before an error means `runtime`. */
function errorsIn(text: string): string[] {
  return (text.match(/\S+/g) ?? []).map((word) => word.replace('~', 'runtime '));
}

/** The errors of a charge's rules. */
const CHARGE_ERRORS =
  'RunAlreadyConsumed SequenceTooFar PriceChanged PriceAboveLimit InsufficientBalance ArithmeticOverflow';

const SALE_ERRORS = 'ProtocolPaused ListingNotActive PriceAboveLimit ArithmeticOverflow';

/** The errors of an instruction's rules, which follow its structural checks. */
const RULE_ERRORS: Record<InstructionName, string> = {
  initialize_protocol: `ConstraintSeeds AccountOwnedByWrongProgram AccountDidNotDeserialize Unauthorized FeeTooHigh
    PriceTooLow ArithmeticOverflow AccountNotSystemOwned ConstraintRentExempt ~UnsupportedSysvar`,
  update_protocol: `Unauthorized AccountNotSystemOwned ConstraintRentExempt FeeTooHigh PriceTooLow
    ArithmeticOverflow ~UnsupportedSysvar`,
  create_listing: `ProtocolPaused Unauthorized PriceTooLow ArithmeticOverflow DepositTooLow MetadataUriTooLong
    ~UnsupportedSysvar`,
  update_listing: `Unauthorized ListingNotActive PriceTooLow ArithmeticOverflow DepositTooLow MetadataUriTooLong`,
  close_listing: 'Unauthorized ListingNotActive ActiveSubscribers EscrowNotEmpty',
  moderate_listing: 'Unauthorized ListingNotActive',
  purchase_one_time: `${SALE_ERRORS} InvalidAccessType ~UnsupportedSysvar`,
  purchase_subscription: `${SALE_ERRORS} InvalidAccessType InvalidDuration ~UnsupportedSysvar`,
  purchase_per_query: `${SALE_ERRORS} InvalidAccessType DepositTooLow ~UnsupportedSysvar`,
  renew_subscription: `${SALE_ERRORS} InvalidAccessType InvalidDuration`,
  topup_balance: SALE_ERRORS,
  fund_balance: `Unauthorized ${SALE_ERRORS} InvalidAccessType DepositTooLow ~UnsupportedSysvar`,
  consume_query: `Unauthorized ListingNotActive ${CHARGE_ERRORS}`,
  consume_queries: 'Unauthorized ListingNotActive',
  revoke_access: 'Unauthorized InvalidAccessType',
  revoke_per_query_access: 'Unauthorized NothingToWithdraw ArithmeticOverflow',
  withdraw_earnings: 'Unauthorized WithdrawalExceedsBalance NothingToWithdraw ArithmeticOverflow',
  verify_access: '',
};

/** The System program's errors for a transfer: the payer has data, too few lamports, or another owner. */
const TRANSFER_ERRORS = ['runtime InvalidArgument', 'system error 1', 'runtime ExternalAccountLamportSpend'];

/** The runtime's errors after a successful instruction: the balances at its end are not allowed. */
const AFTERWARDS = errorsIn('~InsufficientFundsForRent ~ArithmeticOverflow');

/** The errors for a missing or unused account that must exist, by type. */
const MISSING: Partial<Record<string, string>> = {
  access_credential: 'CredentialNotFound CredentialRevoked',
  per_query_balance: 'InvalidAccessType',
};

/** The errors for an existing account that must be new, by type. Escrow and balance never exist alone. */
const PRESENT: Partial<Record<string, string>> = {
  access_credential: 'CredentialRevoked CredentialExpired InvalidAccessType',
  protocol: 'AccountDiscriminatorAlreadySet AccountDiscriminatorMismatch',
  listing: 'AccountDiscriminatorAlreadySet',
};

function structuralErrors({ kind, state, ...rule }: AccountRule): string[] {
  const isRead = kind === 'existing' || kind === 'maybe';
  const errors = [
    rule.writable && 'ConstraintMut',
    rule.signer && 'AccountNotSigner',
    rule.namedByProtocol && 'ConstraintHasOne',
    rule.seeds !== undefined && 'ConstraintSeeds',
    kind === 'system' && 'InvalidProgramId',
    isRead && 'AccountOwnedByWrongProgram AccountDiscriminatorMismatch AccountDidNotDeserialize',
    kind === 'existing' && (MISSING[`${state}`] ?? 'AccountNotInitialized'),
    kind === 'ensured' && 'AccountDiscriminatorMismatch AccountDidNotDeserialize',
    kind === 'ensured' && state === 'access_credential' && 'CredentialRevoked',
    kind === 'new' && PRESENT[`${state}`],
  ];
  return errors.flatMap((each) => (each ? errorsIn(each) : []));
}

/** The errors of one charge among several: of the first charge, and of a later one. */
function chargeErrors(): string[] {
  const errors = [...CHARGE_ACCOUNTS.flatMap(structuralErrors), ...errorsIn(CHARGE_ERRORS)];
  return ['of charge 1', 'of a later charge'].flatMap((place) => errors.map((error) => `${error} ${place}`));
}

/** Every way in which an instruction can end, in the words of `endingName`. */
export function reachableEndings(name: InstructionName): string[] {
  const { accounts } = instructionRule(name);
  return [
    ...new Set([
      ...errorsIn('success InstructionDidNotDeserialize AccountNotEnoughKeys'),
      ...accounts.flatMap(structuralErrors),
      ...errorsIn(RULE_ERRORS[name]),
      ...(name === 'consume_queries' ? chargeErrors() : []),
      ...(accounts.some(({ kind }) => kind === 'system') ? TRANSFER_ERRORS : []),
      ...AFTERWARDS,
    ]),
  ];
}

/** Instructions that can succeed without a listing. */
const WITHOUT_LISTING: readonly InstructionName[] = ['update_protocol', 'create_listing', 'verify_access'];

/** Possible pairs of successive successes, as `first second`. */
export function reachablePairs(): string[] {
  const isReachable = (first: InstructionName, second: InstructionName): boolean =>
    second === 'initialize_protocol'
      ? first === 'verify_access'
      : first !== 'initialize_protocol' || WITHOUT_LISTING.includes(second);
  return INSTRUCTION_NAMES.flatMap((first) =>
    INSTRUCTION_NAMES.filter((second) => isReachable(first, second)).map((second) => `${first} ${second}`),
  );
}

/** Describes endings and pairs that a campaign reached too rarely, and unexpected endings. */
export function missingCoverage(coverage: Coverage, leastPerEnding: number, leastPerPair: number): string[] {
  const endings = [
    ...errorsIn('InstructionMissing InstructionFallbackNotFound').map((error) => `none ${error}`),
    ...INSTRUCTION_NAMES.flatMap((name) => reachableEndings(name).map((ending) => `${name} ${ending}`)),
  ];
  const listed = new Set(endings);
  const { counts, instructions, successes } = coverage.toJSON();
  const tooRare = (kind: 'counts' | 'ways' | 'pairs', keys: readonly string[], least: number): string[] =>
    keys
      .filter((key) => coverage.times(kind, key) < least)
      .map((key) => `${key}: ${coverage.times(kind, key)} times`);
  return [
    ...(successes * 100 < instructions * 30
      ? [`only ${successes} of ${instructions} instructions succeeded`]
      : []),
    ...tooRare('counts', endings, leastPerEnding),
    ...tooRare('ways', WAYS, leastPerEnding),
    ...counts
      .filter(([ending]) => !listed.has(ending))
      .map(([ending]) => `${ending}: happened, but is not in the list of reachable endings`),
    ...tooRare('pairs', reachablePairs(), leastPerPair),
  ];
}
