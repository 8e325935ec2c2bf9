import { crc32 } from 'node:zlib';
import { HashHeads } from './hash-heads.js';

const INITIAL_CAPACITY = 1024;
/** No journal position is negative. */
const DROPPED = -1;

export interface HistoryDump {
  locations: Uint8Array;
  signatureHashes: Uint8Array;
  postingHashes: Uint8Array;
  postingNumbers: Uint8Array;
}

/**
 * Finds transactions by signature and by address. The transactions stay on the disk. In typed arrays, the index keeps about
 * 30 bytes per transaction, and 12 more per address in it.
 *
 * It works on 32-bit hashes, so its answers are candidates: the caller reads the record and compares.
 * Transactions are numbered in order of execution, from 0.
 */
export class HistoryIndex {
  #count = 0;
  #locations = new Float64Array(INITIAL_CAPACITY);
  #signatureHashes = new Uint32Array(INITIAL_CAPACITY);
  /** Per transaction, the previous one with the same signature hash, plus 1; 0 for none. */
  #previousOfSignature = new Uint32Array(INITIAL_CAPACITY);
  readonly #newestOfSignature = new HashHeads();

  #postings = 0;
  #postingHashes = new Uint32Array(INITIAL_CAPACITY);
  #postingNumbers = new Uint32Array(INITIAL_CAPACITY);
  /** Per posting, the previous one with the same address hash, plus 1; 0 for none. */
  #previousOfAddress = new Uint32Array(INITIAL_CAPACITY);
  readonly #newestOfAddress = new HashHeads();

  /** How many transactions were ever added, dropped ones included. */
  get count(): number {
    return this.#count;
  }

  /** Adds the next transaction, whose record is at this journal position, and returns its number. */
  add(signature: Uint8Array, addresses: readonly Uint8Array[], location: number): number {
    const number = this.#addTransaction(hashOf(signature), location);
    for (const address of addresses) this.#addPosting(hashOf(address), number);
    return number;
  }

  /** The journal position of a transaction; null when a fork dropped it. */
  locationOf(number: number): number | null {
    const location = number < this.#count ? (this.#locations[number] ?? DROPPED) : DROPPED;
    return location === DROPPED ? null : location;
  }

  drop(number: number): void {
    this.#locations[number] = DROPPED;
  }

  /** Numbers of the transactions that may have this signature, newest first. */
  *withSignature(signature: Uint8Array): Generator<number> {
    let next = this.#newestOfSignature.get(hashOf(signature));
    while (next !== 0) {
      if (this.#locations[next - 1] !== DROPPED) yield next - 1;
      next = this.#previousOfSignature[next - 1] ?? 0;
    }
  }

  /** Numbers of the transactions that may mention this address, newest first. */
  *withAddress(address: Uint8Array): Generator<number> {
    let next = this.#newestOfAddress.get(hashOf(address));
    while (next !== 0) {
      const number = this.#postingNumbers[next - 1] ?? 0;
      if (this.#locations[number] !== DROPPED) yield number;
      next = this.#previousOfAddress[next - 1] ?? 0;
    }
  }

  dump(): HistoryDump {
    return {
      locations: bytesOf(this.#locations.slice(0, this.#count)),
      signatureHashes: bytesOf(this.#signatureHashes.slice(0, this.#count)),
      postingHashes: bytesOf(this.#postingHashes.slice(0, this.#postings)),
      postingNumbers: bytesOf(this.#postingNumbers.slice(0, this.#postings)),
    };
  }

  load(dump: HistoryDump): void {
    const locations = new Float64Array(copyOf(dump.locations));
    const signatureHashes = new Uint32Array(copyOf(dump.signatureHashes));
    for (const [number, location] of locations.entries()) {
      this.#addTransaction(signatureHashes[number] ?? 0, location);
    }
    const postingNumbers = new Uint32Array(copyOf(dump.postingNumbers));
    for (const [posting, hash] of new Uint32Array(copyOf(dump.postingHashes)).entries()) {
      this.#addPosting(hash, postingNumbers[posting] ?? 0);
    }
  }

  #addTransaction(hash: number, location: number): number {
    const number = this.#count;
    if (number === this.#locations.length) {
      this.#locations = grown(this.#locations, new Float64Array(number * 2));
      this.#signatureHashes = grown(this.#signatureHashes, new Uint32Array(number * 2));
      this.#previousOfSignature = grown(this.#previousOfSignature, new Uint32Array(number * 2));
    }
    this.#locations[number] = location;
    this.#signatureHashes[number] = hash;
    this.#previousOfSignature[number] = this.#newestOfSignature.get(hash);
    this.#newestOfSignature.set(hash, number + 1);
    this.#count += 1;
    return number;
  }

  #addPosting(hash: number, number: number): void {
    const posting = this.#postings;
    if (posting === this.#postingHashes.length) {
      this.#postingHashes = grown(this.#postingHashes, new Uint32Array(posting * 2));
      this.#postingNumbers = grown(this.#postingNumbers, new Uint32Array(posting * 2));
      this.#previousOfAddress = grown(this.#previousOfAddress, new Uint32Array(posting * 2));
    }
    this.#postingHashes[posting] = hash;
    this.#postingNumbers[posting] = number;
    this.#previousOfAddress[posting] = this.#newestOfAddress.get(hash);
    this.#newestOfAddress.set(hash, posting + 1);
    this.#postings += 1;
  }
}

/** Never 0, which the tables use for "absent". */
function hashOf(bytes: Uint8Array): number {
  const hash = crc32(bytes);
  return hash === 0 ? 1 : hash;
}

function grown<T extends Float64Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function bytesOf(array: Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Copies the bytes into a new buffer: typed arrays need alignment. */
function copyOf(bytes: Uint8Array): ArrayBuffer {
  const copy = new ArrayBuffer(bytes.byteLength);
  new Uint8Array(copy).set(bytes);
  return copy;
}
