import type { Coverage } from './coverage.js';
import {
  CODE,
  endingName,
  LATER,
  ofCharge,
  RUNTIME,
  SYSTEM_INSUFFICIENT_LAMPORTS,
  type Verdict,
} from '../model/errors.js';
import {
  CHARGE_ACCOUNTS,
  INSTRUCTION_NAMES,
  instructionRule,
  type AccountRule,
  type InstructionName,
} from '../model/instruction-table.js';
import { WAYS } from '../model/errors.js';

/** What the rules of a charge can refuse with. */
const CHARGE_ERRORS = [
  CODE.RunAlreadyConsumed,
  CODE.SequenceTooFar,
  CODE.PriceChanged,
  CODE.PriceAboveLimit,
  CODE.InsufficientBalance,
  CODE.ArithmeticOverflow,
] as const;

/** What the rules of an instruction, behind its structural checks, can refuse with. */
const RULE_ERRORS: Record<InstructionName, readonly Verdict[]> = {
  initialize_protocol: [
    CODE.ConstraintSeeds,
    CODE.AccountOwnedByWrongProgram,
    CODE.AccountDidNotDeserialize,
    CODE.Unauthorized,
    CODE.FeeTooHigh,
    CODE.PriceTooLow,
    CODE.ArithmeticOverflow,
    CODE.AccountNotSystemOwned,
    CODE.ConstraintRentExempt,
    RUNTIME.UnsupportedSysvar,
  ],
  update_protocol: [
    CODE.Unauthorized,
    CODE.AccountNotSystemOwned,
    CODE.ConstraintRentExempt,
    CODE.FeeTooHigh,
    CODE.PriceTooLow,
    CODE.ArithmeticOverflow,
    RUNTIME.UnsupportedSysvar,
  ],
  create_listing: [
    CODE.ProtocolPaused,
    CODE.Unauthorized,
    CODE.PriceTooLow,
    CODE.ArithmeticOverflow,
    CODE.DepositTooLow,
    CODE.MetadataUriTooLong,
    RUNTIME.UnsupportedSysvar,
  ],
  update_listing: [
    CODE.Unauthorized,
    CODE.ListingNotActive,
    CODE.PriceTooLow,
    CODE.ArithmeticOverflow,
    CODE.DepositTooLow,
    CODE.MetadataUriTooLong,
  ],
  close_listing: [CODE.Unauthorized, CODE.ListingNotActive, CODE.ActiveSubscribers, CODE.EscrowNotEmpty],
  purchase_one_time: [
    CODE.ProtocolPaused,
    CODE.ListingNotActive,
    CODE.InvalidAccessType,
    CODE.PriceAboveLimit,
    CODE.ArithmeticOverflow,
    RUNTIME.UnsupportedSysvar,
  ],
  purchase_subscription: [
    CODE.ProtocolPaused,
    CODE.ListingNotActive,
    CODE.InvalidAccessType,
    CODE.InvalidDuration,
    CODE.PriceAboveLimit,
    CODE.ArithmeticOverflow,
    RUNTIME.UnsupportedSysvar,
  ],
  purchase_per_query: [
    CODE.ProtocolPaused,
    CODE.ListingNotActive,
    CODE.InvalidAccessType,
    CODE.PriceAboveLimit,
    CODE.DepositTooLow,
    CODE.ArithmeticOverflow,
    RUNTIME.UnsupportedSysvar,
  ],
  renew_subscription: [
    CODE.ProtocolPaused,
    CODE.ListingNotActive,
    CODE.InvalidAccessType,
    CODE.InvalidDuration,
    CODE.PriceAboveLimit,
    CODE.ArithmeticOverflow,
  ],
  topup_balance: [CODE.ProtocolPaused, CODE.ListingNotActive, CODE.PriceAboveLimit, CODE.ArithmeticOverflow],
  consume_query: [CODE.Unauthorized, CODE.ListingNotActive, ...CHARGE_ERRORS],
  consume_queries: [CODE.Unauthorized, CODE.ListingNotActive],
  revoke_access: [CODE.Unauthorized, CODE.InvalidAccessType],
  revoke_per_query_access: [CODE.Unauthorized, CODE.NothingToWithdraw, CODE.ArithmeticOverflow],
  withdraw_earnings: [
    CODE.Unauthorized,
    CODE.WithdrawalExceedsBalance,
    CODE.NothingToWithdraw,
    CODE.ArithmeticOverflow,
  ],
  verify_access: [],
};

/** What the System program answers where it moves a payer's lamports: it has data, too little, or another owner. */
const TRANSFER_ERRORS: readonly Verdict[] = [
  RUNTIME.InvalidArgument,
  SYSTEM_INSUFFICIENT_LAMPORTS,
  RUNTIME.ExternalAccountLamportSpend,
];

/** How the runtime can end a transaction whose instruction did its work: what moved afterwards does not fit. */
const AFTERWARDS: readonly Verdict[] = [RUNTIME.InsufficientFundsForRent, RUNTIME.ArithmeticOverflow];

function structuralErrors(rule: AccountRule): Exclude<Verdict, null>[] {
  const errors: Exclude<Verdict, null>[] = [];
  if (rule.writable) {
    errors.push(CODE.ConstraintMut);
  }
  if (rule.signer) {
    errors.push(CODE.AccountNotSigner);
  }
  if (rule.namedByProtocol) {
    errors.push(CODE.ConstraintHasOne);
  }
  if (rule.kind === 'system') {
    errors.push(CODE.InvalidProgramId);
  }
  if (rule.seeds !== undefined) {
    errors.push(CODE.ConstraintSeeds);
  }
  if (rule.kind === 'existing' || rule.kind === 'maybe') {
    errors.push(
      CODE.AccountOwnedByWrongProgram,
      CODE.AccountDiscriminatorMismatch,
      CODE.AccountDidNotDeserialize,
    );
  }
  if (rule.kind === 'existing') {
    errors.push(
      rule.state === 'access_credential'
        ? CODE.CredentialNotFound
        : rule.state === 'per_query_balance'
          ? CODE.InvalidAccessType
          : CODE.AccountNotInitialized,
    );
    if (rule.state === 'access_credential') {
      errors.push(CODE.CredentialRevoked);
    }
  }
  if (rule.kind === 'new' && rule.state === 'access_credential') {
    errors.push(CODE.CredentialRevoked, CODE.CredentialExpired, CODE.InvalidAccessType);
  }
  // An escrow exists only where its listing does, a balance only where its credential does: those come first.
  if (rule.kind === 'new' && (rule.state === 'protocol' || rule.state === 'listing')) {
    errors.push(CODE.AccountDiscriminatorAlreadySet);
  }
  if (rule.kind === 'new' && rule.state === 'protocol') {
    errors.push(CODE.AccountDiscriminatorMismatch);
  }
  return errors;
}

/** What an instruction can be refused with because of one charge among several: of the first, and of a later one. */
function chargeErrors(name: InstructionName): Verdict[] {
  const errors = [...CHARGE_ACCOUNTS.flatMap(structuralErrors), ...CHARGE_ERRORS];
  return name === 'consume_queries'
    ? [1, LATER].flatMap((place) => errors.map((error) => ofCharge(error, place)))
    : [];
}

/** Every way in which an instruction can end. */
export function reachableVerdicts(name: InstructionName): Verdict[] {
  const { accounts } = instructionRule(name);
  const all = [
    null,
    CODE.InstructionDidNotDeserialize,
    CODE.AccountNotEnoughKeys,
    ...accounts.flatMap(structuralErrors),
    ...RULE_ERRORS[name],
    ...chargeErrors(name),
    ...(accounts.some(({ kind }) => kind === 'system') ? TRANSFER_ERRORS : []),
    ...AFTERWARDS,
  ];
  return [...new Set(all)];
}

/** What can succeed before there is a listing. */
const WITHOUT_LISTING: readonly InstructionName[] = ['update_protocol', 'create_listing', 'verify_access'];

/** Which success can come right after which. */
export function reachablePairs(): [InstructionName, InstructionName][] {
  const isReachable = (first: InstructionName, second: InstructionName): boolean => {
    if (second === 'initialize_protocol') {
      return first === 'verify_access';
    }
    return first !== 'initialize_protocol' || WITHOUT_LISTING.includes(second);
  };
  return INSTRUCTION_NAMES.flatMap((first) =>
    INSTRUCTION_NAMES.filter((second) => isReachable(first, second)).map(
      (second): [InstructionName, InstructionName] => [first, second],
    ),
  );
}

/** Endings that happened and are not in the list above: the list would be wrong. */
function unlisted(coverage: Coverage): string[] {
  return INSTRUCTION_NAMES.flatMap((name) => {
    const listed = new Set(reachableVerdicts(name).map(endingName));
    return coverage
      .endings(name)
      .filter((ending) => !listed.has(ending))
      .map((ending) => `${name} ${ending}: happened, and is not in the list of what can`);
  });
}

/** What a campaign should have seen and has not seen often enough, or has seen and should not have, in words. */
export function missingCoverage(coverage: Coverage, leastPerVerdict: number, leastPerPair: number): string[] {
  const missing: string[] = [];
  if (coverage.successes * 100 < coverage.instructions * 30) {
    missing.push(`only ${coverage.successes} of ${coverage.instructions} instructions succeeded`);
  }
  for (const code of [CODE.InstructionMissing, CODE.InstructionFallbackNotFound]) {
    if (coverage.count(null, code) < leastPerVerdict) {
      missing.push(`${endingName(code)}: ${coverage.count(null, code)} times`);
    }
  }
  for (const name of INSTRUCTION_NAMES) {
    for (const verdict of reachableVerdicts(name)) {
      const count = coverage.count(name, verdict);
      if (count < leastPerVerdict) {
        missing.push(`${name} ${endingName(verdict)}: ${count} times`);
      }
    }
  }
  for (const way of WAYS) {
    if (coverage.wayCount(way) < leastPerVerdict) {
      missing.push(`${way}: ${coverage.wayCount(way)} times`);
    }
  }
  missing.push(...unlisted(coverage));
  for (const [first, second] of reachablePairs()) {
    const count = coverage.pairCount(first, second);
    if (count < leastPerPair) {
      missing.push(`${second} after ${first}: ${count} times`);
    }
  }
  return missing;
}
