/** Standard input and output, the same on Deno and on Node. */
export interface Stdio {
  /** The next bytes, or null at the end of the input. */
  read(): Promise<Uint8Array | null>;
  /** Resolves when the text was handed to the operating system. */
  write(text: string): Promise<void>;
  exit(code: number): void;
}

interface DenoGlobal {
  stdin: { read(into: Uint8Array): Promise<number | null> };
  stdout: { writeSync(bytes: Uint8Array): number };
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
  return {
    async read() {
      const count = await deno.stdin.read(buffer);
      return count === null ? null : buffer.subarray(0, count);
    },
    write(text) {
      let rest = encoder.encode(text);
      while (rest.length > 0) rest = rest.subarray(deno.stdout.writeSync(rest));
      return Promise.resolve();
    },
    exit: (code) => {
      deno.exit(code);
    },
  };
}

function nodeStdio(): Stdio {
  const chunks = process.stdin[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return {
    async read() {
      const next = await chunks.next();
      return next.done === true ? null : next.value;
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

/**
 * The lines of the input. The first read is under way when this returns, so that its start-up cost is paid
 * before the sandbox calls itself ready.
 */
export function readLines(stdio: Stdio): AsyncIterator<string> {
  const first = stdio.read();
  return (async function* lines() {
    const decoder = new TextDecoder();
    let rest = '';
    for (let chunk = await first; chunk !== null; chunk = await stdio.read()) {
      // A long line arrives in many chunks: look for its end in the new one alone.
      const parts = decoder.decode(chunk, { stream: true }).split('\n');
      rest += parts[0] ?? '';
      for (const part of parts.slice(1)) {
        yield rest;
        rest = part;
      }
    }
  })();
}
