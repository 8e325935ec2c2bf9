import { createBubblewrapDriver } from './bubblewrap-driver.js';
import { conformanceCases } from '../../conformance/index.js';
import { kernelCases } from '../../conformance/cases/kernel-cases.js';
import { memoryCases } from '../../conformance/cases/memory-cases.js';
import { describeConformance, IS_QUICK } from '../../conformance/describe-conformance.test-support.js';
import { onHardenedMachine } from './hardened-machine.test-support.js';

describeConformance('bubblewrap driver', {
  runIf: onHardenedMachine,
  isSampled: IS_QUICK,
  create: (stateDir) => createBubblewrapDriver({ stateDir }),
});

describeConformance('bubblewrap driver, whose code finds all of Deno', {
  runIf: onHardenedMachine && !IS_QUICK,
  isSampled: true,
  cases: conformanceCases.filter(({ needsBareRealm }) => needsBareRealm !== true),
  create: (stateDir) => createBubblewrapDriver({ stateDir, runtimeWall: 'permissions' }),
});

// As a model's code that has compromised Deno: it may load native code, and makes system calls itself.
describeConformance('bubblewrap driver, whose Deno denies nothing', {
  runIf: onHardenedMachine && !IS_QUICK,
  isSampled: true,
  cases: [...kernelCases, ...memoryCases],
  create: (stateDir) => createBubblewrapDriver({ stateDir, runtimeWall: 'open' }),
});
