import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IsolationLevel, SandboxDriver } from '@agent-rental/sandbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../config/index.js';
import { boundsInForce, openSandboxes, requireIsolation } from './open-driver.js';

const LEVELS: readonly IsolationLevel[] = ['runtime', 'kernel', 'microvm'];

describe('the least isolation that is asked for', () => {
  const check = (isolation: IsolationLevel, least: IsolationLevel) => () =>
    requireIsolation({ name: 'some', isolation }, least);

  it.each(LEVELS)('of %s accepts that and more', (least) => {
    for (const isolation of LEVELS.slice(LEVELS.indexOf(least))) {
      expect(check(isolation, least)).not.toThrow();
    }
  });

  it.each(LEVELS)('of %s refuses less, naming both', (least) => {
    for (const isolation of LEVELS.slice(0, LEVELS.indexOf(least))) {
      expect(check(isolation, least)).toThrow(ConfigError);
      expect(check(isolation, least)).toThrow(new RegExp(`"${isolation}".*"${least}"`));
    }
  });

  it('can be lowered on the embedded default alone, and the advice says so', () => {
    const refuse = (allowed: IsolationLevel) => () =>
      requireIsolation({ name: 'deno', isolation: 'runtime' }, 'kernel', allowed);
    expect(refuse('runtime')).toThrow(/SANDBOX_MIN_ISOLATION=runtime\.$/);
    expect(refuse('kernel')).toThrow(/or unset DATABASE_URL.*embedded default\.$/);
    expect(refuse('kernel')).not.toThrow(/MIN_ISOLATION=runtime/);
  });

  it('says why there is nothing stronger', () => {
    const driver = { name: 'deno', isolation: 'runtime', notices: ['Bubblewrap is not installed.'] } as const;
    expect(() => requireIsolation(driver, 'kernel')).toThrow(
      /"runtime".*"kernel".*Bubblewrap is not installed\./,
    );
  });
});

describe('the bounds in force', () => {
  const bounds = (isolation: IsolationLevel, guarantees: Partial<SandboxDriver['guarantees']>): object =>
    boundsInForce({ isolation, guarantees: { memoryBounded: true, endsWithHost: true, ...guarantees } });

  it('come from the driver, or follow from its guarantees [OPS-1]', () => {
    expect(bounds('microvm', {})).toEqual({ memoryBound: 'machine', threadsBound: 'machine' });
    expect(bounds('runtime', {})).toEqual({ memoryBound: 'rlimit', threadsBound: 'none' });
    expect(bounds('runtime', { memoryBounded: false })).toEqual({
      memoryBound: 'none',
      threadsBound: 'none',
    });
    expect(bounds('kernel', { memoryBound: 'cgroup', threadsBounded: true })).toEqual({
      memoryBound: 'cgroup',
      threadsBound: 'rlimit',
    });
  });
});

describe('the sandboxes of a server', () => {
  let stateDir: string;
  beforeEach(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'server state '));
  });
  afterEach(() => rm(stateDir, { recursive: true }));

  const told: string[] = [];
  const logger = { info: () => undefined, warn: (_fields: unknown, text: string) => told.push(text) };
  const limits = { poolSize: 1, maxActive: 1, e2b: undefined, leastIsolation: 'runtime' } as const;

  it('come from the chosen driver, after a trial start', async () => {
    const driver = await openSandboxes(
      { ...limits, driver: 'deno', minIsolation: 'runtime' },
      stateDir,
      logger as never,
    );
    expect(driver).toMatchObject({ name: 'deno', isolation: 'runtime' });
    await driver.close();
  });

  it('are refused where they are too weak, and nothing of them is left', async () => {
    const opening = openSandboxes(
      { ...limits, driver: 'deno', minIsolation: 'kernel' },
      stateDir,
      logger as never,
    );
    await expect(opening).rejects.toThrow(ConfigError);
    const left = await readdir(join(stateDir, 'sandbox', 'sandboxes'));
    expect(left.filter((name) => name.endsWith('.json'))).toEqual([]);
  });

  it('log the reason against stronger ones', async () => {
    const driver = await openSandboxes(
      { ...limits, driver: 'auto', minIsolation: 'runtime' },
      stateDir,
      logger as never,
    );
    expect(told).toEqual(driver.notices ?? []);
    expect(driver.isolation === 'kernel' || told.length > 0).toBe(true);
    await driver.close();
  });
});
