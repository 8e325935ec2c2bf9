import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { releaseChanges, releaseManifest } from './release.mjs';

const CHANGELOG = `# Changelog

Intro.

## Unreleased

### Added

- More.

## 0.2.0 (2026-01-02)

- First.
`;

test('a release takes the unreleased changes, and leaves the heading for the next ones', () => {
  const released = releaseChanges(CHANGELOG, '0.3.0', '2026-02-03');
  expect(released).toBe(CHANGELOG.replace('## Unreleased\n', '## Unreleased\n\n## 0.3.0 (2026-02-03)\n'));
  expect(() => releaseChanges(released, '0.4.0', '2026-02-04')).toThrow('no change');
  expect(() => releaseChanges('# Changelog\n', '0.4.0', '2026-02-04')).toThrow('no change');
});

test('a manifest and its dependencies of this repository get the version', () => {
  const manifest = {
    name: '@agent-rental/a',
    version: '0.1.0',
    dependencies: { '@agent-rental/b': '0.1.0', other: '0.1.0' },
    peerDependencies: { '@agent-rental/c': '^0.1.0' },
  };
  expect(releaseManifest(manifest, '0.2.0')).toEqual({
    name: '@agent-rental/a',
    version: '0.2.0',
    dependencies: { '@agent-rental/b': '0.2.0', other: '0.1.0' },
    peerDependencies: { '@agent-rental/c': '^0.2.0' },
  });
});

test.each([
  [[], 'npm run release -- <version>'],
  [['next'], 'npm run release -- <version>'],
  [['0.0.9'], '0.0.9 does not come after'],
])('%j changes nothing', (args, message) => {
  const script = fileURLToPath(new URL('release.mjs', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
});
