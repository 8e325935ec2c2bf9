import { conformanceCases } from '../../conformance/index.js';
import { describeConformance } from '../../conformance/describe-conformance.test-support.js';
import { createDenoDriver } from './deno-driver.js';

describeConformance('Deno driver', { create: (stateDir) => createDenoDriver({ stateDir }) });

describeConformance('Deno driver, whose code finds all of Deno', {
  cases: conformanceCases.filter(({ needsBareRealm }) => needsBareRealm !== true),
  create: (stateDir) => createDenoDriver({ stateDir, runtimeWall: 'permissions' }),
});

describeConformance('Deno driver on a machine without util-linux', {
  create: (stateDir) => createDenoDriver({ stateDir, launcher: { setpriv: undefined, prlimit: undefined } }),
});
