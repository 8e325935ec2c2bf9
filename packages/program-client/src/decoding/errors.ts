import { MARKETPLACE_IDL } from '../idl.js';

/** An error of the program, or one of Anchor's framework codes that it uses. */
export interface ProgramError {
  code: number;
  name: string;
  message: string;
}

/** The program's own errors by code: 6000 to 6016 as specified, this project's additions from 6100. */
export const PROGRAM_ERRORS: ReadonlyMap<number, ProgramError> = new Map(
  MARKETPLACE_IDL.errors.map(({ code, name, msg }) => [code, { code, name, message: msg }]),
);

/** Anchor's framework codes that the program answers with where its structural checks fail. */
export const FRAMEWORK_ERRORS: ReadonlyMap<number, ProgramError> = new Map(
  (
    [
      [100, 'InstructionMissing', 'Instruction discriminator not provided'],
      [101, 'InstructionFallbackNotFound', 'Fallback functions are not supported'],
      [102, 'InstructionDidNotDeserialize', 'The program could not deserialize the given instruction'],
      [2000, 'ConstraintMut', 'A mut constraint was violated'],
      [2001, 'ConstraintHasOne', 'A has one constraint was violated'],
      [2005, 'ConstraintRentExempt', 'A rent exemption constraint was violated'],
      [2006, 'ConstraintSeeds', 'A seeds constraint was violated'],
      [3000, 'AccountDiscriminatorAlreadySet', 'The account discriminator was already set on this account'],
      [3002, 'AccountDiscriminatorMismatch', 'Account discriminator did not match what was expected'],
      [3003, 'AccountDidNotDeserialize', 'Failed to deserialize the account'],
      [3005, 'AccountNotEnoughKeys', 'Not enough account keys given to the instruction'],
      [3007, 'AccountOwnedByWrongProgram', 'The given account is owned by a different program than expected'],
      [3008, 'InvalidProgramId', 'Program ID was not as expected'],
      [3010, 'AccountNotSigner', 'The given account did not sign'],
      [3011, 'AccountNotSystemOwned', 'The given account is not owned by the system program'],
      [3012, 'AccountNotInitialized', 'The program expected this account to be already initialized'],
    ] as const
  ).map(([code, name, message]) => [code, { code, name, message }]),
);

const ANCHOR_LOG =
  /^Program log: AnchorError (?:occurred|caused by account: \w+)\. Error Code: (\w+)\. Error Number: (\d+)\. Error Message: (.*)\.$/;
const MAX_DEPTH = 6;
/** Members of failures that have the error inside. */
const NESTED = ['Custom', 'InstructionError', 'err', 'error', 'value', 'data', 'cause', 'transactionError'];

/**
 * Splits a custom error of `consume_queries` into the error's code and the place of the refused charge. Places count from
 * 0. The place is undefined where the refusal is about no single charge, as with all other instructions.
 */
export function splitChargeError(custom: number): { code: number; place: number | undefined } {
  const place = Math.floor(custom / 0x1_0000);
  return { code: custom % 0x1_0000, place: place > 0 ? place - 1 : undefined };
}

function errorOfCode(custom: number): ProgramError | null {
  const { code } = splitChargeError(custom);
  return PROGRAM_ERRORS.get(code) ?? FRAMEWORK_ERRORS.get(code) ?? null;
}

function errorInLogs(logs: readonly unknown[]): ProgramError | null {
  for (const line of logs.toReversed()) {
    const match = typeof line === 'string' ? ANCHOR_LOG.exec(line) : null;
    const known = match === null ? null : errorOfCode(Number(match[2]));
    if (known !== null) {
      return known;
    }
  }
  return null;
}

function find(failure: unknown, depth: number): ProgramError | null {
  if (typeof failure === 'number') {
    return errorOfCode(failure);
  }
  if (typeof failure === 'bigint') {
    return errorOfCode(Number(failure));
  }
  if (Array.isArray(failure)) {
    const [index, detail] = failure as unknown[];
    if (failure.length === 2 && typeof index === 'number' && typeof detail === 'object') {
      return find(detail, depth - 1);
    }
    return errorInLogs(failure);
  }
  if (typeof failure !== 'object' || failure === null || depth === 0) {
    return null;
  }
  for (const key of NESTED) {
    if (key in failure) {
      const found = find((failure as Record<string, unknown>)[key], depth - 1);
      if (found !== null) {
        return found;
      }
    }
  }
  const logs =
    'logs' in failure ? failure.logs : 'transactionLogs' in failure ? failure.transactionLogs : null;
  return Array.isArray(logs) ? errorInLogs(logs) : null;
}

/**
 * Finds the program's error in the result of a failed transaction. It takes:
 * - a custom code
 * - a `TransactionError` such as `{InstructionError: [0, {Custom: 6002}]}`
 * - logs, or a simulation's result
 * - web3.js' `SendTransactionError`
 *
 * Codes alone do not say whose they are; pass errors of transactions in which the marketplace's instruction failed.
 * @returns null when none of the program's or Anchor's known codes is in it
 */
export function decodeProgramError(failure: unknown): ProgramError | null {
  return find(failure, MAX_DEPTH);
}
