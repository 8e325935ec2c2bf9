import { expect, test } from 'vitest';
import { documents, readText } from './repository.js';

/** Pronouns that hide who acts. A document names the caller, the renter, the operator or the thief instead. */
const UNCLEAR = /\b(?:whoever|somebody|nobody|whatever it)\b/gi;

test.each(documents().filter((path) => !path.startsWith('packages/')))('%s names who acts', (path) => {
  expect(readText(path).match(UNCLEAR) ?? []).toEqual([]);
});
