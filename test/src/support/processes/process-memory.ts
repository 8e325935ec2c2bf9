import { open, readFile } from 'node:fs/promises';

const CHUNK_BYTES = 4 * 1024 * 1024;

/**
 * Which of these texts are in the memory that a process can write to, as one byte or two bytes a character.
 * Undefined when this machine does not let us look, or the process has ended.
 *
 * @param read shared memory that was read for another process, and is not read again
 */
export async function findInMemory(
  pid: number,
  texts: readonly string[],
  read = new Set<string>(),
): Promise<Set<string> | undefined> {
  const needles = texts.flatMap((text) => [
    { text, bytes: Buffer.from(text, 'latin1') },
    { text, bytes: Buffer.from(text, 'utf16le') },
  ]);
  const overlap = Math.max(...needles.map(({ bytes }) => bytes.length));
  const found = new Set<string>();
  try {
    const maps = await readFile(`/proc/${pid}/maps`, 'utf8');
    const memory = await open(`/proc/${pid}/mem`, 'r');
    try {
      const chunk = Buffer.alloc(CHUNK_BYTES + overlap);
      for (const line of maps.split('\n')) {
        const [, from = '', to = '', access = '', offsetAndFile = ''] =
          /^([0-9a-f]+)-([0-9a-f]+) (\S+) (\S+ \S+ \S+)/.exec(line) ?? [];
        if (!access.startsWith('rw')) continue;
        if (access.endsWith('s')) {
          const shared = `${from} ${offsetAndFile}`;
          if (read.has(shared)) continue;
          read.add(shared);
        }
        const end = Number.parseInt(to, 16);
        for (let at = Number.parseInt(from, 16); at < end; at += CHUNK_BYTES) {
          const size = Math.min(chunk.length, end - at);
          // An address fits a number; memory that was reserved and never used cannot be read.
          const bytesRead = await memory.read(chunk, 0, size, at).then(
            (done) => done.bytesRead,
            () => 0,
          );
          const part = chunk.subarray(0, bytesRead);
          for (const { text, bytes } of needles) if (part.includes(bytes)) found.add(text);
        }
      }
    } finally {
      await memory.close();
    }
    return found;
  } catch {
    return undefined;
  }
}
