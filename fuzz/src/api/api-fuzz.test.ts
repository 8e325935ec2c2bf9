import { expect, inject, test } from 'vitest';
import { fuzzApi, REQUIREMENTS } from './fuzz-api.js';
import { pythonEnvironment } from '@agent-rental/test/support/toolchains/python-environment';
import { attach } from '@agent-rental/test/support/marketplace';
import { FORM, IS_QUICK } from '@agent-rental/test/support/form';

test.skipIf(IS_QUICK)(
  'requests made from the OpenAPI document find no 5xx and no undocumented answer [SVC-5]',
  { timeout: 900_000 },
  async () => {
    const environment = await pythonEnvironment(REQUIREMENTS);
    if ('missing' in environment) throw new Error(environment.missing);
    const marketplace = await attach(inject('stateDir'));
    const { code, output } = await fuzzApi(marketplace, {
      python: environment.python,
      seed: 1,
      maxExamples: FORM === 'full' ? 5 : 2,
    });
    expect(code, output).toBe(0);
    const [, selected, tested] = /Selected: (\d+)\/\1\s+Tested: (\d+)/.exec(output) ?? [];
    expect(tested, output).toBe(selected);
    expect(Number(tested)).toBeGreaterThan(10);
  },
);
