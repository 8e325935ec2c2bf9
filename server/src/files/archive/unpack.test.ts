import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { pack, type Headers } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { zipOf, type ZipEntry } from '../../testing/index.js';
import { ARCHIVE_LIMITS, ArchiveError } from './snapshot.js';
import { isArchive } from './format.js';
import { unpackArchive } from './unpack.js';

interface Plain {
  name: string;
  content?: Buffer | string;
  type?: Headers['type'];
  linkname?: string;
}

async function tarOf(entries: Plain[]): Promise<Buffer> {
  const tar = pack();
  for (const { name, content = '', type = 'file', linkname } of entries) {
    const isFile = type === 'file';
    tar.entry(
      { name, type, ...(linkname === undefined ? {} : { linkname }) },
      isFile ? Buffer.from(content) : undefined,
    );
  }
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar as unknown as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const zipEntries = (entries: Plain[]): ZipEntry[] =>
  entries.map(({ name, content, type }) => ({
    name: type === 'directory' ? `${name}/` : name,
    ...(content === undefined ? {} : { content }),
    mode:
      { directory: 0o040_755, symlink: 0o120_777, 'character-device': 0o020_666 }[type as string] ??
      0o100_644,
  }));

const FORMATS: [string, (entries: Plain[]) => Promise<Buffer>][] = [
  ['zip', async (entries) => zipOf(zipEntries(entries))],
  ['tar', tarOf],
  ['tar.gz', async (entries) => gzipSync(await tarOf(entries))],
];

describe.each(FORMATS)('a %s file', (_, archiveOf) => {
  it('gives its files by their paths, text where they are text', async () => {
    const binary = Buffer.from([0x89, 0x50, 0, 0xff]);
    const archive = await archiveOf([
      { name: 'src', type: 'directory' },
      { name: 'src/main.py', content: 'print("ü")\n' },
      { name: './README.md', content: '# Read me' },
      { name: 'logo.png', content: binary },
      { name: 'empty', content: '' },
    ]);
    expect(await unpackArchive(archive)).toEqual([
      { path: 'README.md', size_bytes: 9, text: '# Read me' },
      { path: 'empty', size_bytes: 0, text: '' },
      { path: 'logo.png', size_bytes: 4 },
      { path: 'src/main.py', size_bytes: 12, text: 'print("ü")\n' },
    ]);
  });

  it.each([
    ['leads up', [{ name: '../../etc/passwd' }]],
    ['leads up in the middle', [{ name: 'a/../../b' }]],
    ['is absolute', [{ name: '/etc/passwd' }]],
    ['is of another system', [{ name: 'a\\..\\b' }]],
    ['names a drive', [{ name: 'C:/a' }]],
    ['holds control characters', [{ name: 'a\nb' }]],
    ['has an empty part', [{ name: 'a//b' }]],
    ['is too long', [{ name: `${'d/'.repeat(20)}${'x'.repeat(600)}` }]],
    ['lies too deep', [{ name: `${'d/'.repeat(40)}x` }]],
    [
      'is there twice',
      [
        { name: 'a', content: '1' },
        { name: 'a', content: '2' },
      ],
    ],
    ['is a folder and a file', [{ name: 'a/b' }, { name: 'a' }]],
    ['is a file and a folder', [{ name: 'a' }, { name: 'a/b' }]],
    ['is a symbolic link', [{ name: 'a', type: 'symlink', linkname: '/etc/passwd' }]],
    ['is a device', [{ name: 'a', type: 'character-device' }]],
  ] as [string, Plain[]][])('with a path that %s is refused', async (__, entries) => {
    const archive = await archiveOf([{ name: 'good', content: 'x' }, ...entries]);
    await expect(unpackArchive(archive)).rejects.toThrow(ArchiveError);
  });

  it('of many files is refused at the limit, and not before', async () => {
    const limits = { ...ARCHIVE_LIMITS, entries: 20 };
    const files = Array.from({ length: 20 }, (___, at) => ({ name: `f${at}` }));
    expect(await unpackArchive(await archiveOf(files), limits)).toHaveLength(20);
    await expect(unpackArchive(await archiveOf([...files, { name: 'one-more' }]), limits)).rejects.toThrow(
      'entries',
    );
  });

  it('that unpacks to much more than it is, is refused while it unpacks', async () => {
    const bomb = await archiveOf([{ name: 'zeros', content: Buffer.alloc(ARCHIVE_LIMITS.totalBytes + 1) }]);
    await expect(unpackArchive(bomb)).rejects.toThrow(/more than|too much/);
    const many = Array.from({ length: 5 }, (___, at) => ({ name: `f${at}`, content: Buffer.alloc(300_000) }));
    const limits = { ...ARCHIVE_LIMITS, totalBytes: 1_000_000 };
    await expect(unpackArchive(await archiveOf(many), limits)).rejects.toThrow(/more than|too much/);
  });

  it('that is cut or changed anywhere is refused or gives files, and never fails in another way', async () => {
    const entries = Array.from({ length: 4 }, (___, at) => ({
      name: `f${at}`,
      content: `${at}`.repeat(200),
    }));
    const whole = await archiveOf(entries);
    const changed = fc.record({
      cut: fc.nat(whole.length),
      changes: fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(changed, async ({ cut, changes }) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        const result = await unpackArchive(bytes.subarray(0, cut)).catch((error: unknown) => error);
        expect(Array.isArray(result) || result instanceof ArchiveError).toBe(true);
      }),
      { seed: 7, numRuns: 150 },
    );
  });
});

describe('a zip file', () => {
  it.each([
    ['encrypted', [{ name: 'a', content: 'x', encrypted: true }]],
    ['larger than it states', [{ name: 'a', content: 'x'.repeat(100_000), statedBytes: 10 }]],
    ['smaller than it states', [{ name: 'a', content: 'x', statedBytes: 1_000 }]],
    ['a named pipe', [{ name: 'a', mode: 0o010_644 }]],
  ] as [string, ZipEntry[]][])('with an entry that is %s is refused', async (_, entries) => {
    await expect(unpackArchive(zipOf(entries))).rejects.toThrow(ArchiveError);
  });
});

/** An entry of a kind that the library does not write: the kind is at byte 156, the sum of all bytes at 148. */
async function entryOfKind(kind: string, name: string, content: Buffer, sizeField?: string): Promise<Buffer> {
  const whole = await tarOf([{ name, content }]);
  const entry = whole.subarray(0, 512 + Math.ceil(content.length / 512) * 512);
  entry.write(kind, 156, 'latin1');
  if (sizeField !== undefined) entry.write(sizeField.padEnd(12, '\0'), 124, 'latin1');
  entry.fill(' ', 148, 156);
  const sum = entry.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  entry.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return entry;
}

const paxRecord = (text: string) => {
  const length = text.length + 2;
  const digits = `${length + `${length}`.length}`.length;
  return `${length + digits} ${text}\n`;
};

describe('a header of a tar file', () => {
  const MEGABYTES = 34 * 1024 * 1024;
  it.each([
    ['one long record', 'x', Buffer.from(paxRecord(`comment=${'a'.repeat(MEGABYTES)}`))],
    ['many records', 'x', Buffer.from(paxRecord('a=b').repeat(MEGABYTES / 8))],
    ['a global comment', 'g', Buffer.from(paxRecord(`comment=${'a'.repeat(MEGABYTES)}`))],
    ['a long name', 'L', Buffer.alloc(MEGABYTES, 'a')],
    ['a long link', 'K', Buffer.alloc(MEGABYTES, 'a')],
  ])('of megabytes in %s is refused before it is read', async (_, kind, content) => {
    const archive = gzipSync(
      Buffer.concat([await entryOfKind(kind, 'header', content), await tarOf([{ name: 'a' }])]),
    );
    await expect(unpackArchive(archive)).rejects.toThrow('headers');
  });

  it.each(['-512', 'NaN', '-1e9', '1e30', '99999999999999999999', '0x10'])(
    'with a size of %s ends the archive',
    async (size) => {
      const header = await entryOfKind('x', 'header', Buffer.from(paxRecord(`size=${size}`)));
      const archive = Buffer.concat([header, await tarOf([{ name: 'a', content: 'text' }])]);
      await expect(unpackArchive(archive)).rejects.toThrow(/impossible size|more than/);
    },
  );

  it.each(['x', 'g', 'L', 'K', '0', '5'])(
    'of the kind %s with a size that is no number ends the archive',
    async (kind) => {
      for (const size of ['zzzzzzzzzzz', '-0000001000', '\u00ff'.repeat(12)]) {
        const header = await entryOfKind(kind, 'a', Buffer.from(paxRecord('a=b')), size);
        const archive = Buffer.concat([header, await tarOf([{ name: 'b', content: 'text' }])]);
        const result = await unpackArchive(archive).catch((error: unknown) => error);
        expect(
          Array.isArray(result) || (result instanceof ArchiveError && !/too long/.test(result.message)),
        ).toBe(true);
      }
    },
  );
});

describe('a tar file', () => {
  it.each(['link', 'fifo', 'block-device'] as const)('with a %s is refused', async (type) => {
    const archive = await tarOf([{ name: 'target' }, { name: 'a', type, linkname: 'target' }]);
    await expect(unpackArchive(archive)).rejects.toThrow('only files and folders');
  });

  it('whose bulk is in folders and padding is refused while it unpacks', async () => {
    const limits = { ...ARCHIVE_LIMITS, entries: 10, totalBytes: 1_000 };
    const zeros = gzipSync(Buffer.concat([await tarOf([{ name: 'a' }]), Buffer.alloc(64 * 1024 * 1024)]));
    await expect(unpackArchive(zeros, limits)).rejects.toThrow(ArchiveError);
  });

  it('that git makes, with its comment in a global header, is taken', async () => {
    const comment = `comment=${'f'.repeat(40)}\n`;
    const archive = await tarOf([
      { name: 'pax_global_header', content: `${comment.length + 3} ${comment}` },
      { name: 'repo-abc/', type: 'directory' },
      { name: 'repo-abc/a.txt', content: 'text' },
    ]);
    // The library writes no such header: the kind is at byte 156, the sum of all bytes at 148.
    const change = 'g'.charCodeAt(0) - (archive[156] ?? 0);
    archive.write('g', 156, 'latin1');
    const sum = Number.parseInt(archive.subarray(148, 154).toString('latin1'), 8) + change;
    archive.write(sum.toString(8).padStart(6, '0'), 148, 'latin1');
    const files = await unpackArchive(gzipSync(archive));
    expect(files.map(({ path }) => path)).toEqual(['repo-abc/a.txt']);
  });
});

it('an archive is known by its type, or by its bytes where nothing is said', () => {
  const zip = zipOf([{ name: 'a' }]);
  expect(isArchive('application/zip', Buffer.from('no zip at all'))).toBe(true);
  expect(isArchive('application/octet-stream', zip)).toBe(true);
  // An office document is a zip file, and a document first.
  expect(isArchive('application/vnd.openxmlformats-officedocument.wordprocessingml.document', zip)).toBe(
    false,
  );
  expect(isArchive('application/octet-stream', createHash('sha256').update('x').digest())).toBe(false);
});
