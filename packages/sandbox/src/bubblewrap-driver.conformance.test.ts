import { createBubblewrapDriver } from './bubblewrap-driver.js';
import { describeConformance } from './conformance.test-support.js';
import { onHardenedMachine } from './hardened-machine.test-support.js';

describeConformance('bubblewrap driver', {
  runIf: onHardenedMachine,
  create: (stateDir) => createBubblewrapDriver({ stateDir }),
});
