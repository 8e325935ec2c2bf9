import { attach } from '@agent-rental/test/support/marketplace';
import { expect, inject, test } from 'vitest';
import { runAuthorizationScenarios } from './authorization.js';
import { runSuite, SUITES } from './suites.js';
import { IS_QUICK } from '@agent-rental/test/support/form';

// `npm run conformance` runs the newer suites, which need another Node and minutes.
test.skipIf(IS_QUICK).each(['0.1.13, on the Node of the tests'] as const)(
  'the protocol’s conformance suite %s passes [ADP-6]',
  { timeout: 400_000 },
  async (name) => {
    const { passed, failures } = await runSuite(name);
    expect(failures).toEqual([]);
    expect(passed).toBe(SUITES[name].checks);
  },
);

test.skipIf(IS_QUICK)(
  'the scenarios for authorization servers pass, with a wallet that consents [ID-41]',
  { timeout: 400_000 },
  async () => {
    const { passed, failures } = await runAuthorizationScenarios(await attach(inject('stateDir')));
    expect(failures).toEqual([]);
    expect(passed).toBe(3);
  },
);
