/** Standard input and output, the same on Deno and on Node. */
export interface Stdio {
  /** The next bytes, or null at the end of the input. Nothing else may happen while it waits. */
  read(): Promise<Uint8Array | null>;
  /** Resolves when the text was handed to the operating system. */
  write(text: string): Promise<void>;
  exit(code: number): void;
  /** On Deno: the process's own streams and end, for code that has nothing else of Deno. */
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
 * Deno's own calls: its emulation of Node's `process` would triple the time to the first line, and its web
 * streams would add milliseconds to the first message.
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
  // Under way at once, so that its start-up cost is paid before the sandbox calls itself ready.
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

/** Standard input and output of the runtime this file was started by. */
export function openStdio(): Stdio {
  const deno = (globalThis as { Deno?: DenoGlobal }).Deno;
  return deno === undefined ? nodeStdio() : denoStdio(deno);
}

const NEWLINE = 0x0a;

/** The lines of the input. Nothing is read before the first one is asked for. */
export async function* readLines(stdio: Pick<Stdio, 'read'>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for (let chunk = await stdio.read(); chunk !== null; chunk = await stdio.read()) {
    // What ends with a line ends with a character too: no state is kept then, which costs half as much.
    const isWhole = chunk.at(-1) === NEWLINE;
    const text = isWhole ? decoder.decode(chunk) : decoder.decode(chunk, { stream: true });
    // A long line arrives in many chunks: look for its end in the new one alone.
    const parts = text.split('\n');
    rest += parts[0] ?? '';
    for (const part of parts.slice(1)) {
      yield rest;
      rest = part;
    }
  }
}
