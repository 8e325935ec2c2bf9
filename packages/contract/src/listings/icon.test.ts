import { describe, expect, it } from 'vitest';
import { ICON_MAX_BYTES, iconProblem, iconType } from './icon.js';

const bytesOf = (...parts: (string | number[] | Buffer)[]): Buffer =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  );

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
/** The same with the low byte first, as in WebP. */
const low32 = (value: number) => Buffer.from(uint32(value).toReversed());
const chunk = (name: string, data: Buffer) => bytesOf(uint32(data.length), name, data, uint32(0));
const PNG = bytesOf([0x89], 'PNG\r\n\x1a\n');
const header = (width: number, height: number) =>
  chunk('IHDR', bytesOf(uint32(width), uint32(height), [8, 6, 0, 0, 0]));
const DATA = chunk('IDAT', Buffer.alloc(40));
const END = chunk('IEND', Buffer.alloc(0));
const png = (width: number, height = width, ...between: Buffer[]) =>
  bytesOf(PNG, header(width, height), ...between, DATA, END);

const riff = (...chunks: [name: string, data: Buffer][]): Buffer => {
  const body = bytesOf(
    'WEBP',
    ...chunks.flatMap(([name, data]) => {
      const size = low32(data.length);
      return [name, size, data, Buffer.alloc(data.length % 2)];
    }),
  );
  return bytesOf('RIFF', low32(body.length), body);
};
const lossy = (width: number, height = width) =>
  bytesOf([0, 0, 0, 0x9d, 1, 0x2a, width & 255, width >> 8, height & 255, height >> 8], Buffer.alloc(11));
const lossless = (side: number) =>
  bytesOf([0x2f], low32(((side - 1) | ((side - 1) << 14)) >>> 0), Buffer.alloc(8));
const extended = (side: number) => bytesOf([0, 0, 0, 0, side - 1, 0, 0, side - 1, 0, 0]);

describe('an icon', () => {
  it.each([
    ['PNG', png(64), 'image/png'],
    ['lossy WebP', riff(['VP8 ', lossy(64)]), 'image/webp'],
    ['lossless WebP', riff(['VP8L', lossless(300)]), 'image/webp'],
    ['extended WebP', riff(['VP8X', extended(64)], ['VP8 ', lossy(64)]), 'image/webp'],
  ])('is a square %s [LST-54]', (_, bytes, type) => {
    expect(iconProblem(bytes)).toBeUndefined();
    expect(iconType(bytes)).toBe(type);
  });

  it.each([
    ['another format', bytesOf('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'is no PNG and no WebP'],
    ['a GIF', bytesOf('GIF89a', Buffer.alloc(40)), 'is no PNG and no WebP'],
    ['nothing', Buffer.alloc(0), 'is no PNG and no WebP'],
    ['a signature alone', PNG, 'is no whole PNG of one still picture'],
    ['a cut PNG', png(64).subarray(0, -1), 'is no whole PNG of one still picture'],
    ['a PNG with more behind it', bytesOf(png(64), '<script>'), 'is no whole PNG of one still picture'],
    ['a PNG without a picture', bytesOf(PNG, header(64, 64), END), 'is no whole PNG of one still picture'],
    ['an animated PNG', png(64, 64, chunk('acTL', Buffer.alloc(8))), 'is no whole PNG of one still picture'],
    ['a chunk of 4 GB', bytesOf(PNG, uint32(0xffffffff), 'IHDR'), 'is no whole PNG of one still picture'],
    ['a wide one', png(64, 65), 'has 64 x 65 pixels; an icon is square'],
    ['a small one', png(16), 'has sides of 16 pixels; it may have 32 to 1024'],
    ['one of many pixels', png(50_000), 'has sides of 50000 pixels; it may have 32 to 1024'],
    [
      'too many bytes',
      Buffer.alloc(ICON_MAX_BYTES + 1),
      `has ${ICON_MAX_BYTES + 1} bytes; the most is ${ICON_MAX_BYTES}`,
    ],
    ['a wide WebP', riff(['VP8 ', lossy(64, 32)]), 'has 64 x 32 pixels; an icon is square'],
    ['a cut WebP', riff(['VP8 ', lossy(64)]).subarray(0, -2), 'is no whole WebP of one still picture'],
    [
      'an animated WebP',
      riff(['VP8X', extended(64)], ['ANIM', Buffer.alloc(6)], ['VP8 ', lossy(64)]),
      'is no whole WebP of one still picture',
    ],
    [
      'a WebP without a picture',
      riff(['VP8X', extended(64)], ['EXIF', Buffer.alloc(8)]),
      'is no whole WebP of one still picture',
    ],
  ])('is not %s [LST-54]', (_, bytes, problem) => {
    expect(iconProblem(bytes)).toBe(problem);
  });
});
