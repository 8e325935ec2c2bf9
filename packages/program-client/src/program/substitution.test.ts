import { describe, expect, it } from 'vitest';
import { MARKETPLACE_IDL } from '../idl.js';
import { substitutionCases } from '../testing/substitutions.js';

/**
 * Every account of every instruction is replaced by each kind of wrong account, one at a time, and loses each of its
 * flags. A new instruction in the IDL is covered as soon as it has a scenario.
 */
describe.each(MARKETPLACE_IDL.instructions.map((instruction) => [instruction.name, instruction] as const))(
  '%s',
  (_, instruction) => {
    it.each(substitutionCases(instruction))('$title: $expected [PRG-35]', ({ run, expected }) => {
      expect(run()).toBe(expected);
    });
  },
);
