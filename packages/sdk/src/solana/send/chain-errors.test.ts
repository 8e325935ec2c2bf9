import { PROGRAM_ERROR_CODES } from '@agent-rental/contract';
import { MARKETPLACE_PROGRAM_ID, PROGRAM_ERRORS } from '@agent-rental/program-client';
import { describe, expect, test } from 'vitest';
import { isApiError } from '../../errors.js';
import { apiErrorOfTransaction } from './chain-errors.js';

const errorOf = (error: unknown, logs: string[] = []) =>
  apiErrorOfTransaction(error, logs, MARKETPLACE_PROGRAM_ID);

describe('a failed transaction', () => {
  test('has an API code for every error of the program, and for nothing else', () => {
    const names = [...PROGRAM_ERRORS.values()].map(({ name }) => name);
    expect(Object.keys(PROGRAM_ERROR_CODES).toSorted()).toEqual(names.toSorted());
  });

  test.each([
    [6000, 'listing_paused', 403],
    [6001, 'credential_not_found', 403],
    [6002, 'credential_expired', 403],
    [6003, 'insufficient_balance', 403],
    [6004, 'credential_not_found', 403],
    [6006, 'credential_not_found', 403],
    [6012, 'invalid_request', 400],
    [6013, 'service_unavailable', 503],
    [6014, 'internal_error', 500],
    [6101, 'insufficient_balance', 403],
    [6103, 'invalid_request', 400],
    [6104, 'service_unavailable', 503],
  ])('with %i of the program is %s (%i) [ERR-19, ERR-20]', (anchorCode, code, status) => {
    const error = errorOf({ InstructionError: [0, { Custom: anchorCode }] });
    expect(isApiError(error)).toBe(true);
    expect(error).toMatchObject({ code, status });
    expect(error.onChainError).toEqual({
      program: MARKETPLACE_PROGRAM_ID.toBase58(),
      anchor_code: anchorCode,
    });
  });

  test.each([
    ['AccountNotFound', [], 'too little SOL'],
    ['InsufficientFundsForFee', [], 'too little SOL'],
    [{ InsufficientFundsForRent: { account_index: 0 } }, [], 'too little SOL'],
    [
      { InstructionError: [0, { Custom: 1 }] },
      ['Transfer: insufficient lamports 1, need 2'],
      'too little SOL',
    ],
    ['BlockhashNotFound', [], 'too old'],
    ['SomethingNew', [], 'SomethingNew'],
  ])('of the runtime, %o, is explained in words', (failure, logs, words) => {
    const error = errorOf(failure, logs);
    expect(error).toMatchObject({ code: 'invalid_request', onChainError: undefined });
    expect(error.message).toContain(words);
  });
});
