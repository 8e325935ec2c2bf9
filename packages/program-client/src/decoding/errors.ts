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
  [
    { code: 100, name: 'InstructionMissing', message: 'Instruction discriminator not provided' },
    { code: 101, name: 'InstructionFallbackNotFound', message: 'Fallback functions are not supported' },
    {
      code: 102,
      name: 'InstructionDidNotDeserialize',
      message: 'The program could not deserialize the given instruction',
    },
    { code: 2000, name: 'ConstraintMut', message: 'A mut constraint was violated' },
    { code: 2001, name: 'ConstraintHasOne', message: 'A has one constraint was violated' },
    { code: 2005, name: 'ConstraintRentExempt', message: 'A rent exemption constraint was violated' },
    { code: 2006, name: 'ConstraintSeeds', message: 'A seeds constraint was violated' },
    {
      code: 3000,
      name: 'AccountDiscriminatorAlreadySet',
      message: 'The account discriminator was already set on this account',
    },
    {
      code: 3002,
      name: 'AccountDiscriminatorMismatch',
      message: 'Account discriminator did not match what was expected',
    },
    { code: 3003, name: 'AccountDidNotDeserialize', message: 'Failed to deserialize the account' },
    { code: 3005, name: 'AccountNotEnoughKeys', message: 'Not enough account keys given to the instruction' },
    {
      code: 3007,
      name: 'AccountOwnedByWrongProgram',
      message: 'The given account is owned by a different program than expected',
    },
    { code: 3008, name: 'InvalidProgramId', message: 'Program ID was not as expected' },
    { code: 3010, name: 'AccountNotSigner', message: 'The given account did not sign' },
    {
      code: 3011,
      name: 'AccountNotSystemOwned',
      message: 'The given account is not owned by the system program',
    },
    {
      code: 3012,
      name: 'AccountNotInitialized',
      message: 'The program expected this account to be already initialized',
    },
  ].map((error) => [error.code, error]),
);

const ANCHOR_LOG =
  /^Program log: AnchorError (?:occurred|caused by account: \w+)\. Error Code: (\w+)\. Error Number: (\d+)\. Error Message: (.*)\.$/;
const MAX_DEPTH = 6;

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
  for (const key of [
    'Custom',
    'InstructionError',
    'err',
    'error',
    'value',
    'data',
    'cause',
    'transactionError',
  ]) {
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
