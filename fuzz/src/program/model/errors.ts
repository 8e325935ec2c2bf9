/**
 * How an instruction ended: null for success, a number for a custom error code (the program's own, with the place of the
 * refused charge above its lower 16 bits, or 0 and 1 of the System program), a name for an error of the runtime.
 */
export type Verdict = number | string | null;

/** Errors of the runtime that a sequence can provoke; the last: an account would be left with less than its rent. */
export type RuntimeError =
  | 'InvalidArgument'
  | 'ExternalAccountLamportSpend'
  | 'ArithmeticOverflow'
  | 'UnsupportedSysvar'
  | 'InsufficientFundsForRent';

/** The codes that the program refuses with. */
export const CODE = {
  InstructionMissing: 100,
  InstructionFallbackNotFound: 101,
  InstructionDidNotDeserialize: 102,
  ConstraintMut: 2000,
  ConstraintHasOne: 2001,
  ConstraintRentExempt: 2005,
  ConstraintSeeds: 2006,
  AccountDiscriminatorAlreadySet: 3000,
  AccountDiscriminatorMismatch: 3002,
  AccountDidNotDeserialize: 3003,
  AccountNotEnoughKeys: 3005,
  AccountOwnedByWrongProgram: 3007,
  InvalidProgramId: 3008,
  AccountNotSigner: 3010,
  AccountNotSystemOwned: 3011,
  AccountNotInitialized: 3012,
  ListingNotActive: 6000,
  CredentialNotFound: 6001,
  CredentialExpired: 6002,
  InsufficientBalance: 6003,
  Unauthorized: 6004,
  InvalidAccessType: 6005,
  CredentialRevoked: 6006,
  WithdrawalExceedsBalance: 6007,
  FeeTooHigh: 6008,
  PriceTooLow: 6009,
  MetadataUriTooLong: 6010,
  InvalidDuration: 6011,
  DepositTooLow: 6012,
  ProtocolPaused: 6013,
  ArithmeticOverflow: 6014,
  EscrowNotEmpty: 6015,
  NothingToWithdraw: 6016,
  RunAlreadyConsumed: 6100,
  PriceAboveLimit: 6101,
  SequenceTooFar: 6102,
  ActiveSubscribers: 6103,
  PriceChanged: 6104,
} as const;

/** What the System program answers when the payer has too little. */
export const SYSTEM_INSUFFICIENT_LAMPORTS = 1;

/** The refusal with a code if a rule is broken. */
export function when<T extends number | RuntimeError>(isBroken: boolean, code: T): T | null {
  return isBroken ? code : null;
}

const names = new Map<number, string>(Object.entries(CODE).map(([name, code]) => [code, name]));

/** How many bits of a custom error are the code; those above are the place of the refused charge. */
const CODE_BITS = 16;

/** The verdict on an instruction whose charge at a place, counted from 1, is refused. */
export function ofCharge(refusal: Exclude<Verdict, null>, place: number): Exclude<Verdict, null> {
  return typeof refusal === 'number' ? refusal + place * 2 ** CODE_BITS : refusal;
}

/** The place of the refused charge; 0 when the verdict is about no charge among several. */
export function chargePlace(verdict: Verdict): number {
  return typeof verdict === 'number' ? verdict >>> CODE_BITS : 0;
}

/** The code of a verdict without the place of a charge. */
export function withoutPlace(verdict: Verdict): Verdict {
  return typeof verdict === 'number' ? verdict % 2 ** CODE_BITS : verdict;
}

/** A place behind the first; which one is not counted apart. */
export const LATER = 2;

/** A verdict in words; the runtime has errors of the same name as the program. */
export function verdictName(verdict: Verdict): string {
  const place = chargePlace(verdict);
  return place === 0 ? nameOf(verdict) : `${nameOf(withoutPlace(verdict))} of charge ${place}`;
}

/** A verdict in words, the same for all that are counted together. */
export function endingName(verdict: Verdict): string {
  return chargePlace(verdict) < LATER
    ? verdictName(verdict)
    : `${nameOf(withoutPlace(verdict))} of a later charge`;
}

function nameOf(verdict: Verdict): string {
  if (verdict === null) {
    return 'success';
  }
  return typeof verdict === 'number'
    ? (names.get(verdict) ?? `system error ${verdict}`)
    : `runtime ${verdict}`;
}

/** Ways in which an instruction succeeds that are counted apart. */
export const WAYS = [
  'at the previous price',
  'charges no run',
  'charges one balance several times',
  'charges several balances',
  'reclaims above the agreed price',
  'reclaims from a paused listing',
  'reclaims from an active listing after pauses',
  'reclaims from a closed listing',
] as const;

/** One of them. */
export type Way = (typeof WAYS)[number];
