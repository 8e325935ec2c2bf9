import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { LOCAL_DRIVERS } from '../../local-drivers.test-support.js';
import { giveDescriptor } from './inherited-descriptors.js';
import { BUILT, descendants, openFilesOf, startHost } from '../process-tree.test-support.js';

const SECRET = fileURLToPath(import.meta.url);
/** Descriptors as a shell or a service manager leaves them: the first free one, a low one, and a high one. */
const INHERITED = [3, 7, 200];

for (const { name, runs, create } of LOCAL_DRIVERS) {
  test.runIf(runs)(
    `a host's inherited file descriptors do not reach its sandboxes, with ${name}`,
    async () => {
      const stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
      const secret = await open(SECRET);
      const stdio: (number | 'pipe' | 'ignore' | 'inherit')[] = ['pipe', 'pipe', 'inherit'];
      for (const descriptor of INHERITED) giveDescriptor(stdio, descriptor, secret.fd);
      const code = `
      import { ${create.name} } from ${BUILT};
      const driver = await ${create.name}({ stateDir: process.argv[1] });
      await driver.start({ entry: 'evaluator' });
      console.log('started');`;
      onTestFinished(async () => {
        await secret.close();
        await rm(stateDir, { recursive: true });
      });
      const { pid: host, line } = await startHost(code, [stateDir], stdio);
      expect(line).toBe('started');
      const tree = descendants(host);
      expect(tree.length).toBeGreaterThan(0);
      for (const pid of [host, ...tree]) {
        const held = [...(await openFilesOf(pid)).values()].filter((target) => target === SECRET);
        expect(held, `process ${pid}`).toHaveLength(pid === host ? INHERITED.length : 0);
      }
    },
  );
}
