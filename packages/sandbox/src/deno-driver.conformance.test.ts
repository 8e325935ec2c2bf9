import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { conformanceCases } from './conformance.js';
import { createDenoDriver } from './deno-driver.js';
import type { SandboxDriver } from './sandbox.js';

describe('Deno driver', () => {
  let stateDir: string;
  let driver: SandboxDriver;

  beforeAll(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
    driver = await createDenoDriver({ stateDir });
  });
  afterAll(async () => {
    await driver.close();
    await rm(stateDir, { recursive: true });
  });

  test.each(conformanceCases)('$name', async ({ appliesTo, check }) => {
    const applies = appliesTo?.(driver) ?? true;
    await expect(applies ? check(driver) : Promise.resolve()).resolves.toBeUndefined();
  });
});
