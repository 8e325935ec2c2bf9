import { expect, test } from 'vitest';
import { addRelease, readChange } from './changelog.mjs';

test('a change has the greatest size that it names', () => {
  const content = `---\n'@agent-rental/sdk': patch\n"@agent-rental/tools": minor\n---\n\nAdds a tool.\n`;
  expect(readChange(content)).toEqual({ size: 'minor', text: 'Adds a tool.' });
});

test.each(['', 'text', '---\n---\n\nNo package.\n', "---\n'a': patch\n---\n\n"])(
  '%j is no change',
  (content) => expect(() => readChange(content)).toThrow('Not a change'),
);

test('a release stands before the earlier ones, breaking changes first', () => {
  const first = addRelease('# Changelog\n\nIntro.\n', {
    version: '0.2.0',
    date: '2026-01-02',
    changes: [
      { size: 'patch', text: 'Repairs it.' },
      { size: 'major', text: 'Renames it:\nold to new.' },
    ],
  });
  const second = addRelease(first, {
    version: '0.3.0',
    date: '2026-02-03',
    changes: [{ size: 'minor', text: 'More.' }],
  });
  expect(second).toBe(`# Changelog

Intro.

## 0.3.0 (2026-02-03)

### Added

- More.

## 0.2.0 (2026-01-02)

### Breaking changes

- Renames it:
  old to new.

### Fixed

- Repairs it.
`);
});
