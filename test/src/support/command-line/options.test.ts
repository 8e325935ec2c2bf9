import { describe, expect, test } from 'vitest';
import { parseCommandLine } from './options.js';

const SPEC = {
  command: 'npm run soak -- sandbox',
  summary: 'Runs hostile code.',
  options: {
    runs: { kind: 'number', text: 'how many runs', default: 2000 },
    kills: { kind: 'number', text: 'how many crashes', default: 3, least: 0, most: 9 },
    seed: { kind: 'number', text: 'of the random choices' },
    out: { kind: 'text', text: 'a file' },
    json: { kind: 'flag', text: 'as JSON' },
  },
} as const;

describe('the command line', () => {
  test('gives defaults where an option is absent', () => {
    expect(parseCommandLine(SPEC, [])).toEqual({
      values: { runs: 2000, kills: 3, seed: undefined, out: undefined, json: false },
      positionals: [],
    });
  });

  test('reads numbers, text and flags', () => {
    const parsed = parseCommandLine(SPEC, [
      '--runs',
      '5',
      '--kills=0',
      '--seed',
      '7',
      '--out',
      'a b',
      '--json',
    ]);
    expect(parsed).toMatchObject({ values: { runs: 5, kills: 0, seed: 7, out: 'a b', json: true } });
  });

  test.each([
    [['--runs', 'many'], "--runs takes a whole number of at least 1, not 'many'"],
    [['--runs', '0'], "--runs takes a whole number of at least 1, not '0'"],
    [['--runs', '1.5'], 'whole number'],
    [['--runs', '1e3'], 'whole number'],
    [['--runs', ''], 'whole number'],
    [['--runs', '99999999999999999999'], 'whole number'],
    [['--kills', '10'], "--kills takes a whole number from 0 to 9, not '10'"],
    [['--runs'], 'argument missing'],
    [['--bogus'], "Unknown option '--bogus'"],
    [['extra'], "Unexpected argument 'extra'"],
  ])('refuses %j and names --help', (args, message) => {
    const parsed = parseCommandLine(SPEC, args);
    expect(parsed).toEqual({ error: expect.stringContaining(message) });
    expect(parsed).toEqual({ error: expect.stringContaining('npm run soak -- sandbox --help') });
  });

  test('prints help with every option and its default, whatever else is given', () => {
    const parsed = parseCommandLine(SPEC, ['--runs', '5', '--help']);
    expect(parsed).toEqual({
      help: `npm run soak -- sandbox [options]

Runs hostile code.

  --runs N    how many runs (default 2000)
  --kills N   how many crashes (default 3)
  --seed N    of the random choices
  --out TEXT  a file
  --json      as JSON
  --help      prints this text
`,
    });
  });

  test('takes arguments without a dash only where the command has them', () => {
    expect(parseCommandLine({ ...SPEC, positionals: 'name ...' }, ['a', 'b'])).toMatchObject({
      positionals: ['a', 'b'],
    });
  });
});
