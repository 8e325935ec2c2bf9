import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { onHardenedMachine } from '../../bubblewrap/hardened-machine.test-support.js';
import { descendants } from '../process-tree.test-support.js';

const SECRET = fileURLToPath(import.meta.url);
/** Descriptors as a shell or a service manager leaves them: the first free one, a low one, and a high one. */
const INHERITED = [3, 7, 200];

const hosts = [
  { name: 'Deno', runs: process.platform === 'linux', driver: 'createDenoDriver' },
  { name: 'bubblewrap', runs: onHardenedMachine, driver: 'createBubblewrapDriver' },
];

for (const { name, runs, driver } of hosts) {
  test.runIf(runs)(
    `a host's inherited file descriptors do not reach its sandboxes, with ${name}`,
    async () => {
      const stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
      const secret = await open(SECRET);
      const stdio: (number | 'pipe' | 'ignore' | 'inherit')[] = ['pipe', 'pipe', 'inherit'];
      for (const descriptor of INHERITED) {
        while (stdio.length < descriptor) stdio.push('ignore');
        stdio[descriptor] = secret.fd;
      }
      const code = `
      import { ${driver} } from ${JSON.stringify(new URL('../../../../dist/index.js', import.meta.url).href)};
      const driver = await ${driver}({ stateDir: process.argv[1] });
      await driver.start({ entry: 'evaluator' });
      console.log('started');`;
      const host: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', code, stateDir], {
        stdio,
      });
      try {
        const [line] = (await once(createInterface(host.stdout as NodeJS.ReadableStream), 'line')) as [
          string,
        ];
        expect(line).toBe('started');
        const tree = descendants(host.pid ?? 0);
        expect(tree.length).toBeGreaterThan(0);
        for (const pid of [host.pid ?? 0, ...tree]) {
          const descriptors = await readdir(`/proc/${pid}/fd`);
          const targets = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`)));
          const held = targets.filter((target) => target === SECRET).length;
          expect(held, `process ${pid}`).toBe(pid === host.pid ? INHERITED.length : 0);
        }
      } finally {
        host.kill('SIGKILL');
        await once(host, 'exit');
        await secret.close();
        await rm(stateDir, { recursive: true });
      }
    },
  );
}
