import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Wall, WalledProgram } from './bubblewrap-command.js';
import { findWall, tryWall } from './bubblewrap-wall.js';
import { onHardenedMachine } from './hardened-machine.test-support.js';

describe.runIf(onHardenedMachine)('the wall that works on this machine', () => {
  let folder: string;
  let wall: Wall;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'installation '));
    wall = await findWall(folder);
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** A program in a folder that only its owner may enter, or with `forAll` every user. */
  async function installed(options: { forAll: boolean }): Promise<WalledProgram> {
    const path = join(folder, 'prlimit');
    await copyFile(wall.prlimit, path);
    await chmod(path, 0o755);
    await chmod(folder, options.forAll ? 0o755 : 0o700);
    return {
      files: new Map([['/program', path]]),
      addressSpaceMb: 1_024,
      env: {},
      command: ['/program', '--version'],
    };
  }

  test('has sandboxes that are not root', async () => {
    const found = await tryWall(wall, await installed({ forAll: true }));
    expect(found).not.toHaveProperty('notice');
    expect(found.wall.user?.uid).toBe(process.getuid?.() === 0 ? 60_900 : undefined);
  });

  test.runIf(process.getuid?.() === 0)(
    'is the weaker one, with a notice, where only root can reach the files',
    async () => {
      const found = await tryWall(wall, await installed({ forAll: false }));
      expect(found.wall.user).toBeUndefined();
      expect(found.notice).toMatch(
        /threads have no limit.*has to be readable.*Run the server as an ordinary user\.$/,
      );
    },
  );

  test('is absent for a program that does not start, and the error has its text', async () => {
    const program = { ...(await installed({ forAll: true })), command: ['/nothing'] };
    await expect(tryWall(wall, program)).rejects.toMatchObject({
      name: 'SandboxProbeError',
      message: expect.stringContaining('/nothing') as string,
    });
  });
});
