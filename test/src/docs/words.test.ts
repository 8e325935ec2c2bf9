import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { documents, readText, ROOT } from './repository.js';

/** Pronouns that hide who acts. A text names the caller, the renter, the operator or the thief instead. */
const UNCLEAR = /\b(?:whoever|somebody|nobody|whatever it)\b/gi;

/** In code the words stay where they are names: the system's user `nobody`, migrations that have run. */
const MOST_IN_CODE = 19;

test.each(documents())('%s names who acts', (path) => {
  expect(readText(path).match(UNCLEAR) ?? []).toEqual([]);
});

test('code names who acts', () => {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.rs'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '');
  const found = files.flatMap((file) => readText(file).match(UNCLEAR) ?? []);
  expect(found.length).toBeLessThanOrEqual(MOST_IN_CODE);
});
