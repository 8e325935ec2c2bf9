import { mkdtempSync, readFileSync, rmSync, writeSync, closeSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPostgresLog } from './log.js';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'postgres-log-'));
  path = join(folder, 'postgres.log');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('openPostgresLog', () => {
  it('keeps the file and one predecessor, while a child goes on writing', () => {
    const log = openPostgresLog(path, 100);
    const file = log.openForChild();
    writeSync(file, 'a'.repeat(60));
    log.rotate();
    expect(existsSync(`${path}.1`)).toBe(false);
    writeSync(file, 'b'.repeat(60));
    log.rotate();
    writeSync(file, 'c'.repeat(10));
    expect(readFileSync(path, 'utf8')).toBe('c'.repeat(10));
    expect(readFileSync(`${path}.1`, 'utf8')).toBe(`${'a'.repeat(60)}${'b'.repeat(60)}`);
    expect(log.readTail()).toBe('c'.repeat(10));
    closeSync(file);
    log.close();
  });

  it('reads back only the end of the output of the last child', () => {
    const log = openPostgresLog(path);
    const first = log.openForChild();
    writeSync(first, 'earlier');
    closeSync(first);
    const second = log.openForChild();
    expect(log.readTail()).toBe('');
    writeSync(second, `${'x'.repeat(10_000)}end`);
    expect(log.readTail()).toMatch(/^x{4093}end$/);
    closeSync(second);
    log.close();
  });
});
