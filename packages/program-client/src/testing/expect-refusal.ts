import { expect } from 'vitest';
import { PROGRAM_ERRORS, FRAMEWORK_ERRORS } from '../decoding/errors.js';
import type { Outcome } from './chain.js';

/** The name of the error that a transaction was refused with; `success` when it was not. */
export function refusalOf(outcome: Outcome): string {
  if (outcome.error === null) {
    return 'success';
  }
  return outcome.programError?.name ?? String(outcome.error);
}

/** Expects a refusal by the name of the program's error, logged in the form that Anchor clients decode. */
export function expectRefusal(outcome: Outcome, name: string): void {
  expect({ refusal: refusalOf(outcome), logs: outcome.logs }).toMatchObject({ refusal: name });
  const error = [...PROGRAM_ERRORS.values(), ...FRAMEWORK_ERRORS.values()].find((each) => each.name === name);
  expect(outcome.error).toBe(error?.code);
  expect(outcome.logs).toContain(
    `Program log: AnchorError occurred. Error Code: ${name}. Error Number: ${error?.code}. Error Message: ${error?.message}.`,
  );
}
