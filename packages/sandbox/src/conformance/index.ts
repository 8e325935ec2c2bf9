import { type ConformanceCase, evaluate } from './conformance-case.js';
import { escapeCases } from './cases/escape-cases.js';
import { floodCases } from './cases/flood-cases.js';
import { interfaceCases } from './cases/interface-cases.js';
import { kernelCases } from './cases/kernel-cases.js';
import { limitCases } from './cases/limit-cases.js';
import { memoryCases } from './cases/memory-cases.js';
import { neighbourCases } from './cases/neighbour-cases.js';
import { pollutionCases } from './cases/pollution-cases.js';
import { protocolCases } from './cases/protocol-cases.js';
import { pythonCases } from './cases/python-cases.js';
import { pythonFloodCases } from './cases/python-flood-cases.js';
import { resourceCases } from './cases/resource-cases.js';
import { runCases } from './cases/run-cases.js';
import assert from 'node:assert/strict';

export { type Attack, attacks } from './attacks.js';
export type { ConformanceCase } from './conformance-case.js';
export { type Threat, threats } from './threats.js';

/** The requirements of all sandbox drivers. A driver's tests run all cases that apply to it. */
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
  ...pythonFloodCases,
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
        'the next sandbox gave another result',
      );
    },
  };
}
