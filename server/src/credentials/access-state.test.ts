import type { RentalModel } from '@agent-rental/contract';
import { expect, it } from 'vitest';
import { accessStatus, type AccessState } from './access-state.js';

const NOW = new Date('2026-01-01T00:00:00Z');
const PRICE = 1000n;
const at = (offsetMs: number) => new Date(NOW.getTime() + offsetMs);
const credential = (
  rentalModel: RentalModel,
  fields: Partial<NonNullable<AccessState['credential']>> = {},
) => ({ valid: true, rentalModel, expiresAt: null, ...fields });
const ending = (afterMs: number) => credential('subscription', { expiresAt: at(afterMs) });
const balance = (balanceLamports: bigint, maxPriceLamports = PRICE) => ({
  balanceLamports,
  maxPriceLamports,
});

it.each([
  ['no credential', undefined, undefined, 'not_found'],
  ['no credential but a balance', undefined, balance(5000n), 'not_found'],
  ['one_time', credential('one_time'), undefined, 'active'],
  ['one_time, revoked', credential('one_time', { valid: false }), undefined, 'revoked'],
  ['subscription, a millisecond left', ending(1), undefined, 'active'],
  ['subscription, at its end', ending(0), undefined, 'expired'],
  ['subscription, ended', ending(-1), undefined, 'expired'],
  ['subscription without an end', credential('subscription'), undefined, 'expired'],
  ['subscription, revoked', { ...ending(1), valid: false }, undefined, 'revoked'],
  ['per_query, more than the price', credential('per_query'), balance(5000n), 'active'],
  ['per_query, just the price', credential('per_query'), balance(PRICE), 'active'],
  ['per_query, a lamport short', credential('per_query'), balance(PRICE - 1n), 'low_balance'],
  ['per_query, nothing left', credential('per_query'), balance(0n), 'low_balance'],
  ['per_query, no balance account', credential('per_query'), undefined, 'low_balance'],
  ['per_query, price above the agreed', credential('per_query'), balance(5000n, PRICE - 1n), 'low_balance'],
  ['per_query, revoked', credential('per_query', { valid: false }), balance(5000n), 'revoked'],
] as const)('%s, on an active or paused listing', (_, held, left, expected) => {
  for (const status of ['active', 'paused'] as const) {
    const state: AccessState = { listing: { status, priceLamports: PRICE }, credential: held, balance: left };
    expect(accessStatus(state, NOW)).toBe(expected);
  }
});

it('a valid credential, on a suspended listing, is suspended', () => {
  for (const rentalModel of ['one_time', 'subscription', 'per_query'] as const) {
    const state = (valid: boolean): AccessState => ({
      listing: { status: 'suspended', priceLamports: PRICE },
      credential: credential(rentalModel, { expiresAt: at(1000), valid }),
      balance: balance(5000n),
    });
    expect(accessStatus(state(true), NOW)).toBe('suspended');
    expect(accessStatus(state(false), NOW)).toBe('revoked');
  }
});

it('any credential, on a closed listing, is as none', () => {
  for (const rentalModel of ['one_time', 'subscription', 'per_query'] as const) {
    const state: AccessState = {
      listing: { status: 'closed', priceLamports: PRICE },
      credential: credential(rentalModel, { expiresAt: at(1000) }),
      balance: balance(5000n),
    };
    expect(accessStatus(state, NOW)).toBe('not_found');
  }
});
