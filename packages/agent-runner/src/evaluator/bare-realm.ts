import type { Stdio } from '../stdio.js';

/**
 * Global names that code finds beside the language's names. They only compute on values. The list has no interface to a
 * file, an address, a process or a device, and no name that a later runtime adds.
 */
const COMPUTING = `
  console queueMicrotask reportError structuredClone atob btoa crypto performance setTimeout clearTimeout
  setInterval clearInterval setImmediate clearImmediate self global Buffer Blob File FileReader FormData
  Headers URL URLPattern URLSearchParams TextEncoder TextDecoder TextEncoderStream TextDecoderStream
  CompressionStream DecompressionStream Crypto CryptoKey SubtleCrypto AbortController AbortSignal Event
  EventTarget CustomEvent ErrorEvent CloseEvent MessageEvent ProgressEvent PromiseRejectionEvent DOMException
  QuotaExceededError MessageChannel MessagePort BroadcastChannel ByteLengthQueuingStrategy CountQueuingStrategy
  ReadableStream ReadableStreamDefaultReader ReadableStreamBYOBReader ReadableStreamBYOBRequest
  ReadableByteStreamController ReadableStreamDefaultController WritableStream WritableStreamDefaultWriter
  WritableStreamDefaultController TransformStream TransformStreamDefaultController Performance PerformanceEntry
  PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList onerror
  onunhandledrejection
`
  .trim()
  .split(/\s+/);

/** The language's global names (ECMA-262 and ECMA-402), as far as a runtime has them. */
const LANGUAGE = `
  globalThis Infinity NaN undefined eval isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent
  encodeURI encodeURIComponent escape unescape Object Function Boolean Symbol Number BigInt Math Date Temporal
  String RegExp Array Map Set WeakMap WeakSet WeakRef FinalizationRegistry Promise Proxy Reflect Iterator JSON
  Intl Atomics ArrayBuffer SharedArrayBuffer DataView Int8Array Uint8Array Uint8ClampedArray Int16Array
  Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array Float16Array Float32Array Float64Array Error
  AggregateError EvalError RangeError ReferenceError SyntaxError SuppressedError TypeError URIError
  DisposableStack AsyncDisposableStack WebAssembly
`
  .trim()
  .split(/\s+/);

const KEPT: ReadonlySet<string> = new Set([...LANGUAGE, ...COMPUTING]);

/** The parts of Node and Deno that code uses most often and that belong to its process: its streams and its exit. */
function ownProcess({ writeSync, readSync, exit }: Required<Stdio>['own']): Record<string, object> {
  const encoder = new TextEncoder();
  const textStream = (stream: 'stdout' | 'stderr'): object => ({
    write(text: unknown): true {
      writeSync(stream, encoder.encode(String(text)));
      return true;
    },
  });
  const leave = (code?: unknown): void => exit(typeof code === 'number' ? code : 0);
  return {
    process: {
      stdout: textStream('stdout'),
      stderr: textStream('stderr'),
      exit: leave,
      cwd: () => '/',
      nextTick: (callback: (...values: unknown[]) => void, ...values: unknown[]) =>
        queueMicrotask(() => callback(...values)),
      argv: [],
      env: {},
    },
    Deno: {
      stdin: { readSync },
      stdout: { writeSync: (bytes: Uint8Array) => writeSync('stdout', bytes) },
      stderr: { writeSync: (bytes: Uint8Array) => writeSync('stderr', bytes) },
      exit: leave,
    },
  };
}

/**
 * Removes all interfaces that do more than compute from this process, before a model's code runs in it. These are Deno's and
 * Node's interfaces, workers (which would have them again), network, storage and graphics.
 *
 * Denied permissions are not enough: some interfaces reach the machine before they ask for a permission. The removal needs
 * `Stdio.own`, which only Deno has. On Node, a virtual machine surrounds the process.
 */
export function leaveBareRealm({ own }: Stdio): void {
  if (own === undefined) return;
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!KEPT.has(name)) Reflect.deleteProperty(globalThis, name);
  }
  // They make importable addresses. The source map of such a module can name a file.
  for (const name of ['createObjectURL', 'revokeObjectURL']) Reflect.deleteProperty(URL, name);
  for (const [name, value] of Object.entries(ownProcess(own))) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
}
