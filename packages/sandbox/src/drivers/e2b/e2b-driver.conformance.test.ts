import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startE2bStandInProcess } from '@agent-rental/stand-in';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { floodCases } from '../../conformance/cases/flood-cases.js';
import { protocolCases } from '../../conformance/cases/protocol-cases.js';
import { IS_QUICK, sampleOfCases } from '../../conformance/describe-conformance.test-support.js';
import { conformanceCases } from '../../conformance/index.js';
import { createE2bDriver } from './e2b-driver.js';
import type { SandboxDriver } from '../../sandbox.js';

const { E2B_API_KEY: apiKey, E2B_TEMPLATE: template, E2B_DOMAIN: domain } = process.env;

/**
 * The stand-in runs code as processes of this machine, without a wall. These cases hold there all the same, because Node, the
 * runner or the host makes them hold. Every other case runs only on the real service.
 */
const HOLD_WITHOUT_A_WALL = new Set([
  'sees nothing of the environment',
  'imports nothing from elsewhere',
  'gains no permission in a worker or by asking',
  'shares nothing with the sandbox before it',
  'ends a busy loop when killed, and says so',
  'ends code that takes too long',
  'bounds an output flood',
  'bounds a flood of errors',
  'bounds an endless line',
  'bounds input that is never read',
  'does not read ahead of a slow reader without bound',
  'says when code ends without a result',
  'gives errors, values and prints of code back',
  ...floodCases.map(({ name }) => name),
  ...protocolCases.map(({ name }) => name),
]);

/** On the stand-in: a sample of the cases that hold there. */
const cases =
  apiKey === undefined
    ? sampleOfCases(
        'stand-in',
        conformanceCases.filter(({ name }) => HOLD_WITHOUT_A_WALL.has(name)),
      )
    : conformanceCases;

/** The real service makes one sandbox a second. */
const TIMEOUT_MS = 120_000;

describe.runIf(!IS_QUICK || apiKey !== undefined)(
  apiKey === undefined ? "E2B driver, on the stand-in's machine" : 'E2B driver, on E2B',
  () => {
    let standIn: Awaited<ReturnType<typeof startE2bStandInProcess>> | undefined;
    let stateDir: string;
    let driver: SandboxDriver;

    beforeAll(async () => {
      stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
      const limits = { stateDir, maxSandboxes: 20 };
      if (apiKey === undefined) {
        standIn = await startE2bStandInProcess();
        const { url, apiKey: key } = standIn;
        const address = { apiUrl: url, sandboxUrl: url };
        driver = await createE2bDriver({ ...limits, ...address, apiKey: key, createsPerSecond: 1_000 });
      } else {
        driver = await createE2bDriver({ ...limits, apiKey, template, domain, createsPerSecond: 1 });
      }
    });
    afterAll(async () => {
      await driver.close();
      await standIn?.close();
      await rm(stateDir, { recursive: true });
    });

    test('each name of a case that holds without a wall is a case', () => {
      const names = new Set(conformanceCases.map(({ name }) => name));
      expect([...HOLD_WITHOUT_A_WALL].filter((name) => !names.has(name))).toEqual([]);
    });

    for (const { name, appliesTo, check } of cases) {
      test(
        name,
        async () => {
          const applies = appliesTo?.(driver) ?? true;
          await expect(applies ? check(driver) : Promise.resolve()).resolves.toBeUndefined();
        },
        TIMEOUT_MS,
      );
    }
  },
);
