import { describeConformance } from './conformance.test-support.js';
import { createDenoDriver } from './deno-driver.js';

describeConformance('Deno driver', { create: (stateDir) => createDenoDriver({ stateDir }) });

describeConformance('Deno driver on a machine without util-linux', {
  create: (stateDir) => createDenoDriver({ stateDir, launcher: { setpriv: undefined, prlimit: undefined } }),
});
