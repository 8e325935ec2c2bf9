import { conformanceCases } from '../../conformance/index.js';
import { describeConformance, IS_QUICK } from '../../conformance/describe-conformance.test-support.js';
import { onHardenedMachine } from '../bubblewrap/hardened-machine.test-support.js';
import { createDenoDriver } from './deno-driver.js';

// Where bubblewrap is, its driver, which has Deno inside, shows all cases: local runs leave this one out, and CI samples it.
describeConformance('Deno driver', {
  runIf: !IS_QUICK || !onHardenedMachine,
  isSampled: IS_QUICK || onHardenedMachine,
  create: (stateDir) => createDenoDriver({ stateDir }),
});

describeConformance('Deno driver, whose code finds all of Deno', {
  runIf: !IS_QUICK,
  isSampled: true,
  cases: conformanceCases.filter(({ needsBareRealm }) => needsBareRealm !== true),
  create: (stateDir) => createDenoDriver({ stateDir, runtimeWall: 'permissions' }),
});

describeConformance('Deno driver on a machine without util-linux', {
  runIf: !IS_QUICK,
  isSampled: true,
  create: (stateDir) => createDenoDriver({ stateDir, launcher: { setpriv: undefined, prlimit: undefined } }),
});
