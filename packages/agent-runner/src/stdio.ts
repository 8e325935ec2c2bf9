/** Standard input and output, the same on Deno and on Node. */
export interface Stdio {
  /** The next bytes, or null at the end of the input. The process does nothing else while it waits. */
  read(): Promise<Uint8Array | null>;
  /** Resolves when the text was handed to the operating system. */
  write(text: string): Promise<void>;
  exit(code: number): void;
  /** On Deno: the process's streams and exit, for code that has no other interface of Deno. */
  own?: {
    readSync(into: Uint8Array): number | null;
    writeSync(stream: 'stdout' | 'stderr', bytes: Uint8Array): number;
    exit(code: number): void;
  };
}

interface DenoGlobal {
  stdin: { readSync(into: Uint8Array): number | null };
  stdout: { writeSync(bytes: Uint8Array): number };
  stderr: { writeSync(bytes: Uint8Array): number };
  exit(code: number): void;
}

const READ_BUFFER_BYTES = 64 * 1024;

/**
 * Standard input and output by Deno's calls. Deno's emulation of Node's `process` would triple the time to the first line.
 * Its web streams would add milliseconds to the first message.
 */
function denoStdio(deno: DenoGlobal): Stdio {
  const buffer = new Uint8Array(READ_BUFFER_BYTES);
  const encoder = new TextEncoder();
  const { stdin } = deno;
  const writeAll = (stream: 'stdout' | 'stderr', bytes: Uint8Array): number => {
    let rest = bytes;
    while (rest.length > 0) rest = rest.subarray(deno[stream].writeSync(rest));
    return bytes.length;
  };
  const exit = (code: number): void => {
    deno.exit(code);
  };
  return {
    // Blocks: the reader has no other work, and an asynchronous read would wake another thread first.
    async read() {
      const count = deno.stdin.readSync(buffer);
      return count === null ? null : buffer.subarray(0, count);
    },
    write(text) {
      writeAll('stdout', encoder.encode(text));
      return Promise.resolve();
    },
    exit,
    own: { readSync: (into) => stdin.readSync(into), writeSync: writeAll, exit },
  };
}

function nodeStdio(): Stdio {
  const chunks = process.stdin[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  // The first read starts at once, so that its start-up cost comes before the sandbox sends `ready`.
  let next = chunks.next();
  return {
    async read() {
      const { done, value } = await next;
      if (done === true) return null;
      next = chunks.next();
      return value;
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => {
          if (error == null) resolve();
          else reject(error);
        });
      }),
    exit: (code) => {
      process.exit(code);
    },
  };
}

/** Standard input and output of the present runtime. */
export function openStdio(): Stdio {
  const deno = (globalThis as { Deno?: DenoGlobal }).Deno;
  return deno === undefined ? nodeStdio() : denoStdio(deno);
}

const NEWLINE = 0x0a;

/** The lines of the input. Nothing is read before the caller asks for the first line. */
export async function* readLines(stdio: Pick<Stdio, 'read'>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for (let chunk = await stdio.read(); chunk !== null; chunk = await stdio.read()) {
    // A chunk that ends with a line also ends with a character. The decoder then keeps no state, which costs half as much.
    const isWhole = chunk.at(-1) === NEWLINE;
    const text = isWhole ? decoder.decode(chunk) : decoder.decode(chunk, { stream: true });
    // A long line arrives in many chunks: search only the new one for its end.
    const parts = text.split('\n');
    rest += parts[0] ?? '';
    for (const part of parts.slice(1)) {
      yield rest;
      rest = part;
    }
  }
}
