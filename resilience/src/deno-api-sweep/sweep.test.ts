import { readFileSync } from 'node:fs';
import { locateDenoBinary } from '@agent-rental/sandbox';
import { expect, test } from 'vitest';
import { judge, knownBehindTheKernel, knownOfTheInterfaces, knownOfTheLanguage } from './known-reaches.js';
import { openTracedSandboxes, sweepLanguage, sweepNamespace } from './sweep.js';
import { reachesOf } from './traced-calls.js';
import { IS_QUICK } from '@agent-rental/test/support/form';

/** In full, on Linux; CI installs strace. */
const canTrace = !IS_QUICK && process.platform === 'linux';

test.runIf(canTrace)(
  'a model’s JavaScript reaches only those parts of the machine that docs/isolation.md names [EXE-43]',
  { timeout: 120_000 },
  async () => {
    const traced = await openTracedSandboxes('evaluator', locateDenoBinary());
    try {
      const reaches = [
        ...(await sweepLanguage(traced)),
        ...(await sweepNamespace(traced, 'globalThis')),
        ...(await sweepNamespace(traced, 'Deno')),
      ];
      const { named, unknown } = judge(reaches, knownOfTheLanguage);
      expect([...unknown.keys()]).toEqual([]);
      // The sweep works: it sees its own canaries in source maps.
      expect([...named.keys()]).toContain('source maps');
    } finally {
      await traced.close();
    }
  },
);

test.runIf(canTrace)(
  'the sweep finds calls that Deno makes before a check of permissions',
  { timeout: 120_000 },
  async () => {
    const traced = await openTracedSandboxes('permissions', locateDenoBinary());
    try {
      const { unknown } = judge(await sweepNamespace(traced, 'node:module'), knownOfTheLanguage);
      expect([...unknown.keys()].join()).toContain('/canaries/canary');
    } finally {
      await traced.close();
    }
  },
);

test('docs/isolation.md names all known calls', () => {
  const page = readFileSync(new URL('../../../docs/isolation.md', import.meta.url), 'utf8');
  for (const { what } of [...knownOfTheLanguage, ...knownOfTheInterfaces, ...knownBehindTheKernel])
    expect(page.replaceAll('`', '')).toContain(what);
});

test("Deno's own housekeeping is known, also before the first call", () => {
  const call = 'openat("/sys/devices/system/cpu/cpu0/tsc_freq_khz"';
  for (const api of ['', 'node:fs.readFile']) {
    const { named, unknown } = judge([{ api, call, succeeded: false }], knownOfTheInterfaces);
    expect([[...named.keys()], [...unknown.keys()]]).toEqual([['the number of processors'], []]);
  }
});

test('a trace gives each call its interface and its result', () => {
  const connect = 'connect(<socket:[1]>, {sa_family=AF_INET, sin_port=htons(53)}, 16';
  const trace = [
    '10 openat(AT_FDCWD</>, "/before", O_RDONLY) = 3</before>',
    '10 write(1</x>(deleted), "CALL 4 readFile\\n", 16) = 16',
    '10 openat(AT_FDCWD</>, "/tmp/canary-4", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)',
    '11 connect(5<socket:[1]>, {sa_family=AF_INET, sin_port=htons(53)}, 16 <unfinished ...>',
    '10 write(1</x>(deleted), "CALL 5 stat\\n", 12) = 12',
    '11 <... connect resumed>) = 0',
  ].join('\n');
  expect(reachesOf(trace, 'node:fs')).toEqual([
    { api: 'node:fs.readFile', call: 'openat("/tmp/canary"', succeeded: false },
    { api: 'node:fs.readFile', call: connect, succeeded: true },
  ]);
});
