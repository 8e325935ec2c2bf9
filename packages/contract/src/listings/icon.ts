/** Most bytes of a listing's icon, and the bounds of its side in pixels. */
export const ICON_MAX_BYTES = 64 * 1024;
export const ICON_SIDE_PX = { min: 32, max: 1_024 } as const;

/** The media types of an icon. */
export type IconType = 'image/png' | 'image/webp';

/** The format and the size of a picture, by its header. */
interface Header {
  readonly type: IconType;
  readonly width: number;
  readonly height: number;
}

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** The media type of an icon by its first bytes; undefined for another format. */
export function iconType(bytes: Uint8Array): IconType | undefined {
  if (PNG_SIGNATURE.every((byte, index) => bytes[index] === byte)) return 'image/png';
  return nameAt(bytes, 0) === 'RIFF' && nameAt(bytes, 8) === 'WEBP' ? 'image/webp' : undefined;
}

/** Why a picture cannot be an icon; undefined for one that can. It reads the parts of the file, and decodes no pixel. */
export function iconProblem(bytes: Uint8Array): string | undefined {
  if (bytes.length > ICON_MAX_BYTES) return `has ${bytes.length} bytes; the most is ${ICON_MAX_BYTES}`;
  const type = iconType(bytes);
  if (type === undefined) return 'is no PNG and no WebP';
  const header = type === 'image/png' ? pngHeader(bytes) : webpHeader(bytes);
  if (header === undefined)
    return `is no whole ${type === 'image/png' ? 'PNG' : 'WebP'} of one still picture`;
  const { width, height } = header;
  if (width !== height) return `has ${width} x ${height} pixels; an icon is square`;
  const { min, max } = ICON_SIDE_PX;
  return width < min || width > max
    ? `has sides of ${width} pixels; it may have ${min} to ${max}`
    : undefined;
}

/** The header of a PNG whose chunks fill the file: `IHDR` first, picture data, and `IEND` last. */
function pngHeader(bytes: Uint8Array): Header | undefined {
  const view = viewOf(bytes);
  let at = PNG_SIGNATURE.length;
  const names: string[] = [];
  while (at + 12 <= bytes.length) {
    names.push(nameAt(bytes, at + 4));
    at += 12 + view.getUint32(at);
  }
  const isWhole = at === bytes.length && names[0] === 'IHDR' && names.at(-1) === 'IEND';
  if (!isWhole || view.getUint32(8) !== 13 || !names.includes('IDAT') || names.includes('acTL'))
    return undefined;
  return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) };
}

/** The header of a WebP whose chunks fill the file (RFC 9649), with one picture. */
function webpHeader(bytes: Uint8Array): Header | undefined {
  const view = viewOf(bytes);
  if (bytes.length < 30 || view.getUint32(4, true) + 8 !== bytes.length) return undefined;
  let at = 12;
  const names: string[] = [];
  while (at + 8 <= bytes.length) {
    names.push(nameAt(bytes, at));
    const size = view.getUint32(at + 4, true);
    at += 8 + size + (size % 2);
  }
  if (at !== bytes.length || names.includes('ANIM') || names.includes('ANMF')) return undefined;
  const uint24 = (from: number) => view.getUint16(from, true) + (view.getUint8(from + 2) << 16);
  const sized = (width: number, height: number): Header => ({ type: 'image/webp', width, height });
  switch (names[0]) {
    case 'VP8 ':
      return sized(view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff);
    case 'VP8L': {
      const sides = view.getUint32(21, true);
      return sized((sides & 0x3fff) + 1, ((sides >> 14) & 0x3fff) + 1);
    }
    case 'VP8X': {
      const hasPicture = names.some((name) => name === 'VP8 ' || name === 'VP8L');
      return hasPicture ? sized(uint24(24) + 1, uint24(27) + 1) : undefined;
    }
    default:
      return undefined;
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

const nameAt = (bytes: Uint8Array, at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));
