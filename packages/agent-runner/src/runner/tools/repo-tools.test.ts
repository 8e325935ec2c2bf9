import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import type { Evaluation, JsonValue, RepositoryFile } from '../../protocol.js';
import { ToolProblem } from './arguments.js';
import { listFiles, readFileLines, searchFiles } from './repo-tools.js';
import { ScriptedHost } from '../scripted-host.test-support.js';

const files: RepositoryFile[] = [
  { path: 'README.md', size_bytes: 20, text: '# Title\nneedle (one)\n' },
  { path: 'logo.png', size_bytes: 4 },
  { path: 'src/main.py', size_bytes: 30, text: 'import os\nNEEDLE = 1\n\nprint(NEEDLE)' },
  { path: 'src2/x.py', size_bytes: 6, text: 'needle' },
];

describe('listFiles', () => {
  test('lists all files, or the files of a folder, and marks files that are not text', () => {
    expect(listFiles(files, '')).toMatchObject({ total: 4, next_offset: null });
    expect(listFiles(files, '{}')).toMatchObject({
      files: [
        { path: 'README.md', size_bytes: 20 },
        { path: 'logo.png', size_bytes: 4, is_text: false },
        {},
        {},
      ],
    });
    for (const folder of ['src', './src/', '/src']) {
      expect(listFiles(files, JSON.stringify({ folder }))).toMatchObject({
        files: [{ path: 'src/main.py' }],
        total: 1,
      });
    }
    expect(listFiles(files, '{"folder": "src/../"}')).toMatchObject({ total: 0 });
  });

  test('lists a bounded part, and says where to continue', () => {
    const many = Array.from({ length: 1_100 }, (_, at) => ({ path: `f${at}`, size_bytes: 0, text: '' }));
    expect(listFiles(many, '{"offset": 500}')).toMatchObject({ total: 1_100, next_offset: 1_000 });
    expect(listFiles(many, '{"offset": 1000}')).toMatchObject({ next_offset: null });
  });
});

describe('readFileLines', () => {
  test('reads lines, and says where to continue', () => {
    expect(readFileLines(files, '{"path": "src/main.py", "line": 2, "lines": 2}')).toEqual({
      text: 'NEEDLE = 1\n',
      total_lines: 4,
      next_line: 4,
    });
    expect(readFileLines(files, '{"path": "./README.md"}')).toMatchObject({ next_line: null });
  });

  test('reads a bounded part of long files and long lines', () => {
    const long = [
      { path: 'a', size_bytes: 1, text: `${'x'.repeat(40_000)}\n`.repeat(3) + 'y'.repeat(500_000) },
    ];
    expect(readFileLines(long, '{"path": "a"}')).toMatchObject({ next_line: 2 });
    const cut = readFileLines(long, '{"path": "a", "line": 4}') as { text: string };
    expect(cut.text.length).toBe(65_536);
  });

  test.each([
    ['no such file', { path: 'src/../README.md' }],
    ['a folder', { path: 'src' }],
    ['a picture', { path: 'logo.png' }],
    ['nothing', {}],
  ])('tells the model about %s', (_, args) => {
    expect(() => readFileLines(files, JSON.stringify(args))).toThrow(ToolProblem);
  });
});

describe('searchFiles', () => {
  test('finds plain text in all files or in a folder, once a line', async () => {
    const host = new ScriptedHost();
    expect(await searchFiles(files, '{"query": "needle"}', host)).toEqual([
      { path: 'README.md', line: 2, text: 'needle (one)' },
      { path: 'src/main.py', line: 2, text: 'NEEDLE = 1' },
      { path: 'src/main.py', line: 4, text: 'print(NEEDLE)' },
      { path: 'src2/x.py', line: 1, text: 'needle' },
    ]);
    expect(
      await searchFiles(files, '{"query": "NEEDLE", "case_sensitive": true, "folder": "src"}', host),
    ).toHaveLength(2);
    expect(await searchFiles(files, '{"query": "needle", "max_results": 3}', host)).toHaveLength(3);
    expect(await searchFiles(files, '{"query": "(one)"}', host)).toHaveLength(1);
    expect(host.evaluatedCode).toEqual([]);
  });

  test('matches a regular expression in a single-use process, over the same files', async () => {
    const host = new ScriptedHost();
    host.evaluate = (code): Evaluation => {
      const value = runInNewContext(`((input) => {${code}})(${JSON.stringify({ files })})`) as JsonValue;
      return { value, stdout: '' };
    };
    expect(await searchFiles(files, '{"query": "^needle", "regex": true, "folder": "src"}', host)).toEqual([
      { path: 'src/main.py', line: 2, text: 'NEEDLE = 1' },
    ]);
    expect(host.evaluatedCode).toHaveLength(1);
    host.evaluate = () => ({ error: 'The code was stopped.', stdout: '' });
    await expect(searchFiles(files, '{"query": "(", "regex": true}', host)).rejects.toThrow(ToolProblem);
  });
});

test('without an archive every tool says so', async () => {
  expect(() => listFiles(undefined, '')).toThrow('without an archive');
  expect(() => readFileLines(undefined, '{"path": "a"}')).toThrow('without an archive');
  await expect(searchFiles(undefined, '{"query": "a"}', new ScriptedHost())).rejects.toThrow(
    'without an archive',
  );
});
