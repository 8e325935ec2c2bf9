import { type ConformanceCase, evaluate } from './conformance/conformance-case.js';
import { escapeCases } from './conformance/escape-cases.js';
import { floodCases } from './conformance/flood-cases.js';
import { interfaceCases } from './conformance/interface-cases.js';
import { kernelCases } from './conformance/kernel-cases.js';
import { limitCases } from './conformance/limit-cases.js';
import { memoryCases } from './conformance/memory-cases.js';
import { neighbourCases } from './conformance/neighbour-cases.js';
import { pollutionCases } from './conformance/pollution-cases.js';
import { protocolCases } from './conformance/protocol-cases.js';
import { pythonCases } from './conformance/python-cases.js';
import { resourceCases } from './conformance/resource-cases.js';
import { runCases } from './conformance/run-cases.js';
import assert from 'node:assert/strict';

export { type Attack, attacks } from './conformance/attacks.js';
export type { ConformanceCase } from './conformance/conformance-case.js';
export { type Threat, threats } from './conformance/threats.js';

/** What every sandbox driver must do. A driver's tests run all that apply to it. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...escapeCases,
  ...neighbourCases,
  ...limitCases,
  ...floodCases,
  ...resourceCases,
  ...pollutionCases,
  ...protocolCases,
  ...runCases,
  ...kernelCases,
  ...memoryCases,
  ...interfaceCases,
  ...pythonCases,
].map(leavingTheNextUnharmed);

function leavingTheNextUnharmed(conformanceCase: ConformanceCase): ConformanceCase {
  return {
    ...conformanceCase,
    async check(driver) {
      await conformanceCase.check(driver);
      const evaluation = await evaluate(driver, 'return input + 1;');
      assert.deepEqual(
        evaluation,
        { value: 'the input1', stdout: '' },
        'the next sandbox is not as it should be',
      );
    },
  };
}
