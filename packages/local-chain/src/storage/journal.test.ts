import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../testing/chain-fixture.js';
import { Journal, type JournalOptions } from './journal.js';

describe('Journal', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let open: Journal[];
  beforeEach(() => {
    folder = temporaryFolder();
    open = [];
  });
  afterEach(async () => {
    for (const journal of open) await journal.close();
    folder.remove();
  });

  const openJournal = (
    overrides: Partial<JournalOptions> = {},
  ): { journal: Journal; replayed: [number, string][] } => {
    const replayed: [number, string][] = [];
    const journal = new Journal({
      dir: folder.path,
      fromPosition: 0,
      segmentBytes: 100,
      replay: (payload, position) => replayed.push([position, payload.toString()]),
      onFailure: (error) => {
        throw error;
      },
      ...overrides,
    });
    open.push(journal);
    return { journal, replayed };
  };
  const write = (count: number): [number, string][] => {
    const { journal } = openJournal();
    return Array.from({ length: count }, (_, index) => {
      const text = `record ${index}`;
      return [journal.append(Buffer.from(text)), text];
    });
  };
  const files = (): string[] =>
    readdirSync(folder.path)
      .filter((name) => name.endsWith('.log'))
      .sort()
      .map((name) => join(folder.path, name));

  it('gives back every record, by position and in order, over many files', () => {
    const written = write(50);
    expect(files().length).toBeGreaterThan(5);
    const { journal, replayed } = openJournal();
    expect(replayed).toEqual(written);
    for (const [position, text] of written) expect(journal.read(position).toString()).toBe(text);
    const [from] = written[30] ?? [0];
    expect(openJournal({ fromPosition: from }).replayed).toEqual(written.slice(30));
    expect(() => journal.read(1)).toThrow('unreadable');
  });

  it('says when records are on the disk', async () => {
    const durable: number[] = [];
    const { journal } = openJournal({ onDurable: (end) => durable.push(end) });
    await journal.settled();
    expect(durable).toEqual([]);
    journal.append(Buffer.from('a'));
    journal.append(Buffer.from('b'));
    expect(durable).toEqual([]);
    await journal.settled();
    expect(durable.at(-1)).toBe(journal.end);
  });

  it('loses at most the last record, wherever the file was cut', () => {
    const written = write(3);
    const [file = ''] = files();
    const whole = readFileSync(file);
    const lastStart = written[2]?.[0] ?? 0;
    for (let length = lastStart; length < whole.length; length += 1) {
      writeFileSync(file, whole.subarray(0, length));
      const torn: number[] = [];
      const { journal, replayed } = openJournal({ onTornTail: ({ bytes }) => torn.push(bytes) });
      expect(replayed).toEqual(written.slice(0, 2));
      expect(torn).toEqual(length === lastStart ? [] : [length - lastStart]);
      expect([journal.end, statSync(file).size]).toEqual([lastStart, lastStart]);
    }
  });

  it('recognises every changed byte of the last record', () => {
    const written = write(3);
    const [file = ''] = files();
    const whole = readFileSync(file);
    for (let at = written[2]?.[0] ?? 0; at < whole.length; at += 1) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      writeFileSync(file, changed);
      expect(openJournal().replayed).toEqual(written.slice(0, 2));
    }
  });

  it('refuses damage that no crash can cause', () => {
    write(50);
    const [first = '', second = ''] = files();
    const whole = readFileSync(first);
    whole[10] = (whole[10] ?? 0) ^ 1;
    writeFileSync(first, whole);
    expect(() => openJournal()).toThrow(/is damaged at byte 0/u);
    truncateSync(second, 5);
    expect(() => openJournal()).toThrow(/does not end where the next file begins/u);
    expect(() => openJournal({ dir: join(folder.path, 'new'), fromPosition: 10 })).toThrow(/does not reach/u);
  });
});
