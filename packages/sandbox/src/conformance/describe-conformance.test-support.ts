import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { heldBytes } from '../protocol/held-bytes.test-support.js';
import { type ConformanceCase, conformanceCases } from './index.js';
import type { SandboxDriver } from '../sandbox.js';

const { TEST_FORM: FORM, TEST_SEED: SEED = '1' } = process.env;

/**
 * Whether slow tests are left out. A driver then runs only with its default settings: its variants without one of the walls
 * take as long again.
 */
export const IS_QUICK = FORM === 'quick';

/** One of so many cases of a threat is in a sample. */
const SAMPLED = 4;

/** A random sample of the cases, with some of every threat. The full form takes all of them. */
export function sampleOfCases<T extends Pick<ConformanceCase, 'name' | 'threat'>>(
  title: string,
  cases: readonly T[],
): T[] {
  if (FORM === 'full') return [...cases];
  const lot = ({ name }: T): string => createHash('sha256').update(`${SEED} ${title} ${name}`).digest('hex');
  const taken = new Set<T>();
  for (const threat of new Set(cases.map((each) => each.threat))) {
    const alike = cases.filter((each) => each.threat === threat);
    const shuffled = alike.toSorted((one, other) => (lot(one) < lot(other) ? -1 : 1));
    for (const each of shuffled.slice(0, Math.ceil(alike.length / SAMPLED))) taken.add(each);
  }
  return cases.filter((each) => taken.has(each));
}

/** The most memory that this process may hold after all cases. Some cases send it hundreds of megabytes. */
const MOST_LEFT_BYTES = 32 * 1024 * 1024;

/** Runs the conformance cases that apply (default: of all), or a sample of them, against a driver, as tests. */
export function describeConformance(
  title: string,
  {
    runIf = true,
    cases = conformanceCases,
    isSampled = false,
    create,
  }: {
    runIf?: boolean;
    cases?: readonly ConformanceCase[];
    isSampled?: boolean;
    create(stateDir: string): Promise<SandboxDriver>;
  },
): void {
  describe.runIf(runIf)(title, () => {
    let stateDir: string;
    let driver: SandboxDriver;
    let heldBefore: number;

    beforeAll(async () => {
      stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
      driver = await create(stateDir);
      heldBefore = heldBytes();
    });
    afterAll(async () => {
      await driver.close();
      await rm(stateDir, { recursive: true });
    });

    for (const { name, threat, appliesTo, check } of isSampled ? sampleOfCases(title, cases) : cases) {
      const requirement = threat === "blocking the server's event loop with output" ? ' [EXE-62]' : '';
      test(`${name}${requirement}`, { timeout: 90_000 }, async ({ skip }) => {
        if (appliesTo?.(driver) === false) skip('the driver does not promise this');
        await expect(check(driver)).resolves.toBeUndefined();
      });
    }

    test('and the host holds no more memory than before [EXE-43]', () => {
      expect(heldBytes() - heldBefore).toBeLessThan(MOST_LEFT_BYTES);
    });
  });
}
