import { createHash } from 'node:crypto';
import { CID } from 'multiformats/cid';

/**
 * Reads blocks and CARs by their specification alone. It shares no code with the server, and only one library of IPFS,
 * which parses an address.
 */

const SHA_256 = 0x12;
/** CBOR's tag for a link to other content. */
const LINK = 42;

/** Throws unless these are the bytes that the address names. */
export function checkBlock(cid: CID, bytes: Uint8Array): void {
  if (cid.multihash.code !== SHA_256) throw new Error(`${cid.toString()} is no address by SHA-256.`);
  const hash = createHash('sha256').update(bytes).digest();
  if (!hash.equals(cid.multihash.digest)) throw new Error(`These are not the bytes of ${cid.toString()}.`);
}

/** The roots and the checked blocks of a CAR of version 1, in their order. */
export function readCar(car: Uint8Array): { roots: string[]; blocks: Map<string, Uint8Array> } {
  const [header, ...sections] = sectionsOf(car);
  if (header === undefined) throw new Error('An empty CAR.');
  const { version, roots } = readCbor(header) as { version: number; roots: CID[] };
  if (version !== 1) throw new Error(`A CAR of version ${version}.`);
  const blocks = new Map<string, Uint8Array>();
  for (const section of sections) {
    const [cid, bytes] = CID.decodeFirst(section);
    checkBlock(cid, bytes);
    blocks.set(cid.toString(), bytes);
  }
  return { roots: roots.map(String), blocks };
}

/** Takes a CAR apart: each section has its length before it. */
function sectionsOf(car: Uint8Array): Uint8Array[] {
  const sections: Uint8Array[] = [];
  for (let at = 0; at < car.length;) {
    let length = 0;
    let factor = 1;
    for (let byte = 0x80; byte >= 0x80; factor *= 0x80) {
      byte = car[at++] ?? fail();
      length += (byte & 0x7f) * factor;
    }
    if (at + length > car.length) fail();
    sections.push(car.subarray(at, at + length));
    at += length;
  }
  return sections;
}

function fail(): never {
  throw new Error('The CAR ends in the middle of a section.');
}

/** Reads the part of CBOR that the header of a CAR has: small numbers, texts, lists, maps and links. */
function readCbor(bytes: Uint8Array): unknown {
  let at = 0;
  const take = (length: number): Uint8Array => bytes.subarray(at, (at += length));
  const read = (): unknown => {
    const [first = 0] = take(1);
    const kind = first >> 5;
    const short = first & 0x1f;
    if (short > 24) throw new Error(`A header with the byte ${first}.`);
    const count = short === 24 ? (take(1)[0] ?? 0) : short;
    const list = (length: number): unknown[] => Array.from({ length }, read);
    if (kind === 0) return count;
    if (kind === 2) return take(count);
    if (kind === 3) return new TextDecoder().decode(take(count));
    if (kind === 4) return list(count);
    if (kind === 5)
      return Object.fromEntries(Array.from({ length: count }, () => list(2) as [string, unknown]));
    // A link is the bytes of an address after a zero.
    if (kind === 6 && count === LINK) return CID.decode((read() as Uint8Array).subarray(1));
    throw new Error(`A header with the byte ${first}.`);
  };
  return read();
}
