import { gzipSync } from 'node:zlib';

const repeat = (count: number, each: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => each(index)).join();

const members = (count: number, value: string): string => `{${repeat(count, (at) => `"k${at}":${value}`)}}`;

/** Depth, breadth, numbers and texts that are costly to read, as JSON. */
export const HOSTILE_JSON: readonly string[] = [
  `${'['.repeat(300_000)}${']'.repeat(300_000)}`,
  `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
  `[${repeat(200_000, () => '0')}]`,
  members(80_000, '[]'),
  `[${repeat(20_000, (at) => `${at}e400`)}]`,
  `[${'9'.repeat(900_000)}]`,
  `["${String.raw`\u0000\ud800`.repeat(60_000)}"]`,
  `{"__proto__":{"x":"${'y'.repeat(900_000)}"}}`,
  `"${'x'.repeat(1_000_000)}`,
];

/** Addresses of pages with a null character, a lone surrogate, a byte that begins nothing, and too much text. */
export const HOSTILE_PATHS: readonly string[] = ['%00', '%ED%A0%80', '%FF', '%', 'x'.repeat(4_000)].flatMap(
  (ugly) => [`/?q=${ugly}`, `/dashboard/listings/${ugly}`, `/dashboard/runs/${ugly}`, `/ipfs/${ugly}`],
);

/** Input schemas that are costly to check. */
export const HEAVY_SCHEMAS: readonly object[] = [
  { properties: propertiesOf(3_000, (at) => ({ type: 'string', pattern: `^(a|b|c){${at % 90}}[a-z]+$` })) },
  { properties: propertiesOf(200, () => ({ type: 'string', pattern: '^((a+)+)+$' })) },
  // Each definition names the next one twice: 2^200 ways through it.
  {
    $ref: '#/$defs/d0',
    $defs: Object.fromEntries(
      Array.from({ length: 201 }, (_, at) => {
        const next = { $ref: `#/$defs/d${at + 1}` };
        return [`d${at}`, at === 200 ? { type: 'string' } : { allOf: [next, next] }];
      }),
    ),
  },
  { anyOf: Array.from({ length: 1_500 }, (_, at) => ({ properties: { [`p${at}`]: { const: at } } })) },
  { enum: Array.from({ length: 30_000 }, (_, at) => `value-${at}`) },
  Array.from({ length: 400 }).reduce<object>((inner) => ({ properties: { a: inner } }), { type: 'null' }),
  { type: 'array', minItems: 2 ** 31, uniqueItems: true, items: { type: 'object', minProperties: 1e9 } },
];

function propertiesOf(count: number, schemaOf: (index: number) => object): object {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, schemaOf(at)]));
}

/** A small tar.gz whose header announces, and has, megabytes. */
export function archiveWithLargeHeader(kind: 'x' | 'g' | 'L' | 'K'): Buffer {
  const content = Buffer.alloc(34 * 1024 * 1024, 'a');
  content.write(`${content.length} comment=`);
  content[content.length - 1] = 10;
  const header = Buffer.alloc(512);
  header.write('header', 0);
  header.write('0000644\0', 100);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write(`        ${kind}`, 148);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return gzipSync(Buffer.concat([header, content, Buffer.alloc(1_024)]));
}
