/** A value on the wire. An address is its bytes, or a number that `keyOf` maps to its bytes. */
export type Value = boolean | number | bigint | string | Uint8Array | null | undefined | readonly Values[];

/** Values by field name. An absent option is null. */
export interface Values {
  [name: string]: Value;
}

/** Fields in their order, each with its name and type. `?` before a type makes an option, and `charge[]` is a list. */
export type Fields = readonly (readonly [name: string, type: string])[];

/** Reads fields from a text with `name:type`, separated by spaces. */
export function fieldsOf(text: string): Fields {
  const words = text.split(/\s+/).filter((word) => word !== '');
  return words.map((word) => {
    const [name = '', type = ''] = word.split(':');
    return [name, type];
  });
}

/** The fields of one charge. */
export const CHARGE_FIELDS = fieldsOf('sequence:u64 run_id:bytes16 price_lamports:u64');

/** The bytes of each type. A text counts the bytes of its length alone. `zeros` are reserved. */
const SIZES = new Map(
  'bool=1 u8=1 model=1 u16=2 u32=4 string=4 u64=8 bytes16=16 u256=32 pubkey=32 zeros2=2 zeros32=32'
    .split(' ')
    .map((entry) => entry.split('='))
    .map(([type = '', size]) => [type, Number(size)]),
);

/** The bytes of fields with empty texts. */
export function sizeOf(fields: Fields): number {
  return fields.reduce((sum, [, type]) => sum + (SIZES.get(type) ?? 0), 0);
}

function number(value: number | bigint | boolean, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  if (size < 8) {
    bytes.writeUIntLE(Number(value), 0, size);
    return bytes;
  }
  for (let at = 0; at < size; at += 8) {
    bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value) >> BigInt(8 * at)), at);
  }
  return bytes;
}

/** Whether a value is a list. */
export function isList(value: Value): value is readonly Values[] {
  return Array.isArray(value);
}

/** Writes values in borsh. `keyOf` maps an address number to its bytes. */
export function encode(fields: Fields, values: Values, keyOf?: (id: number) => Uint8Array): Uint8Array[] {
  return fields.flatMap(([name, type]) => encodeValue(type, values[name], keyOf));
}

function encodeValue(type: string, value: Value, keyOf?: (id: number) => Uint8Array): Uint8Array[] {
  if (type.startsWith('?')) {
    return value === null ? [number(0, 1)] : [number(1, 1), ...encodeValue(type.slice(1), value, keyOf)];
  }
  if (isList(value)) {
    return [number(value.length, 4), ...value.flatMap((member) => encode(CHARGE_FIELDS, member))];
  }
  if (value instanceof Uint8Array) {
    return [value];
  }
  const size = SIZES.get(type) ?? 0;
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return [number(text.length, 4), text];
  }
  if (type === 'pubkey' && typeof value === 'number') {
    return [keyOf?.(value) ?? new Uint8Array(size)];
  }
  return [number(value ?? 0, size)];
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads fields from `start` to the end of the data; null when the data does not match exactly. */
export function decode(fields: Fields, data: Buffer, start: number): Values | null {
  let at = start;
  const take = (size: number): Buffer => {
    at += size;
    if (at > data.length) {
      throw new RangeError('The data is too short.');
    }
    return data.subarray(at - size, at);
  };
  const tag = (count: number): number => {
    const [value = count] = take(1);
    if (value >= count) {
      throw new RangeError(`There is no tag ${value}.`);
    }
    return value;
  };
  const readAll = (wanted: Fields): Values =>
    Object.fromEntries(wanted.map(([name, type]) => [name, read(type)]));
  const read = (type: string): Value => {
    if (type.startsWith('?')) {
      return tag(2) === 1 ? read(type.slice(1)) : null;
    }
    switch (type) {
      case 'charge[]': {
        const count = take(4).readUInt32LE();
        const members: Values[] = [];
        while (members.length < count) {
          members.push(readAll(CHARGE_FIELDS));
        }
        return members;
      }
      case 'bool':
        return tag(2) === 1;
      case 'model':
        return tag(3);
      case 'u16':
        return take(2).readUInt16LE();
      case 'u64':
        return take(8).readBigUInt64LE();
      case 'string':
        return utf8.decode(take(take(4).readUInt32LE()));
      default:
        return take(SIZES.get(type) ?? 0);
    }
  };
  try {
    const values = readAll(fields);
    return at === data.length ? values : null;
  } catch {
    return null;
  }
}
