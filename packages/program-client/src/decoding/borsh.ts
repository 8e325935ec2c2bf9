import { PublicKey } from '@solana/web3.js';
import type { IdlField, IdlType, IdlTypeDef } from '../idl-types.js';
import { MARKETPLACE_IDL } from '../idl.js';

/**
 * Borsh, driven by the types of the IDL, so that layouts exist once, in the program's source.
 *
 * In JavaScript:
 * - u8 to u32 are `number`, u64 and i64 are `bigint`
 * - a pubkey is a `PublicKey`, a byte array is a `Uint8Array`
 * - an option is a value or `null`, a vec is a list
 * - a struct is an object with names in camelCase
 * - an enum is its variant in snake_case (`'per_query'`)
 */
export type BorshValue =
  | boolean
  | number
  | bigint
  | string
  | null
  | PublicKey
  | Uint8Array
  | BorshValue[]
  | { [field: string]: BorshValue };

const MAX_STRING_BYTES = 1_024;
const utf8Encoder = new TextEncoder();
const utf8Decoder = new TextDecoder('utf-8', { fatal: true });

const typeDefs = new Map<string, IdlTypeDef>(MARKETPLACE_IDL.types.map((def) => [def.name, def]));

/** The definition of a named type of the IDL; asking for an unknown one is a bug of the caller. */
export function typeDef(name: string): IdlTypeDef {
  const def = typeDefs.get(name);
  if (def === undefined) {
    throw new Error(`The IDL has no type ${name}.`);
  }
  return def;
}

/** `PerQuery` -> `per_query`. */
function snakeCase(pascalCase: string): string {
  return pascalCase.replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

/** `price_lamports` -> `priceLamports`. */
export function camelCase(snake: string): string {
  return snake.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function variantsOf(def: IdlTypeDef): string[] | null {
  return def.type.kind === 'enum' ? def.type.variants.map((variant) => snakeCase(variant.name)) : null;
}

function structFields(name: string): IdlField[] | null {
  const { type } = typeDef(name);
  return type.kind === 'struct' ? type.fields : null;
}

function pushStruct(out: number[], typeName: string, value: BorshValue | undefined, name: string): void {
  const isRecord =
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Uint8Array) &&
    !(value instanceof PublicKey);
  if (!isRecord) throw new TypeError(`${name} is not a ${typeName}.`);
  for (const field of structFields(typeName) ?? []) {
    pushValue(out, field.type, value[camelCase(field.name)], `${name}.${camelCase(field.name)}`);
  }
}

function integerIn(value: BorshValue | undefined, min: bigint, max: bigint, name: string): bigint {
  if (typeof value !== 'bigint' && !(typeof value === 'number' && Number.isSafeInteger(value))) {
    throw new TypeError(`${name} must be a whole number.`);
  }
  const integer = BigInt(value);
  if (integer < min || integer > max) {
    throw new RangeError(`${name} must be from ${min} to ${max}, not ${integer}.`);
  }
  return integer;
}

function littleEndian(value: bigint, size: number): number[] {
  return Array.from({ length: size }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn));
}

const UNSIGNED_SIZES: Record<string, number> = { u8: 1, u16: 2, u32: 4, u64: 8 };

function pushValue(out: number[], type: IdlType, value: BorshValue | undefined, name: string): void {
  if (typeof type === 'object') {
    if ('option' in type) {
      if (value === null || value === undefined) {
        out.push(0);
      } else {
        out.push(1);
        pushValue(out, type.option, value, name);
      }
    } else if ('array' in type) {
      if (!(value instanceof Uint8Array) || value.length !== type.array[1]) {
        throw new TypeError(`${name} must be ${type.array[1]} bytes.`);
      }
      out.push(...value);
    } else if ('vec' in type) {
      if (!Array.isArray(value)) throw new TypeError(`${name} must be a list.`);
      out.push(...littleEndian(BigInt(value.length), 4));
      for (const [place, each] of value.entries()) pushValue(out, type.vec, each, `${name}[${place}]`);
    } else if (structFields(type.defined.name)) {
      pushStruct(out, type.defined.name, value, name);
    } else {
      const index = variantsOf(typeDef(type.defined.name))?.findIndex((variant) => variant === value) ?? -1;
      if (index < 0) {
        throw new TypeError(`${name} is not a ${type.defined.name}.`);
      }
      out.push(index);
    }
    return;
  }
  if (type === 'bool') {
    if (typeof value !== 'boolean') {
      throw new TypeError(`${name} must be true or false.`);
    }
    out.push(value ? 1 : 0);
  } else if (type === 'pubkey') {
    if (!(value instanceof PublicKey)) {
      throw new TypeError(`${name} must be a PublicKey.`);
    }
    out.push(...value.toBytes());
  } else if (type === 'string') {
    if (typeof value !== 'string') {
      throw new TypeError(`${name} must be a string.`);
    }
    const bytes = utf8Encoder.encode(value);
    out.push(...littleEndian(BigInt(bytes.length), 4), ...bytes);
  } else if (type === 'i64') {
    const integer = integerIn(value, -(2n ** 63n), 2n ** 63n - 1n, name);
    out.push(...littleEndian(BigInt.asUintN(64, integer), 8));
  } else {
    const size = UNSIGNED_SIZES[type] ?? 8;
    out.push(...littleEndian(integerIn(value, 0n, 2n ** BigInt(8 * size) - 1n, name), size));
  }
}

/**
 * Encodes named values in the order of the IDL.
 *
 * @throws TypeError or RangeError naming the value that does not fit its type
 */
export function encodeFields(fields: IdlField[], values: Record<string, BorshValue | undefined>): Uint8Array {
  const out: number[] = [];
  for (const field of fields) {
    pushValue(out, field.type, values[camelCase(field.name)], camelCase(field.name));
  }
  return Uint8Array.from(out);
}

/** Reads borsh; every read past the end throws a RangeError. */
export class BorshReader {
  readonly #view: DataView;
  #offset: number;

  constructor(bytes: Uint8Array, offset = 0) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#offset = offset;
  }

  /** Bytes not read yet. */
  get remaining(): number {
    return this.#view.byteLength - this.#offset;
  }

  #take(size: number): number {
    const start = this.#offset;
    if (size > this.remaining) {
      throw new RangeError(`${size} bytes wanted, ${this.remaining} left.`);
    }
    this.#offset += size;
    return start;
  }

  #bytes(size: number): Uint8Array {
    const start = this.#take(size);
    return new Uint8Array(this.#view.buffer, this.#view.byteOffset + start, size).slice();
  }

  #tag(limit: number): number {
    const tag = this.#view.getUint8(this.#take(1));
    if (tag >= limit) {
      throw new RangeError(`A tag of ${tag}, where ${limit} values exist.`);
    }
    return tag;
  }

  /** Reads one value of a type. */
  read(type: IdlType): BorshValue {
    if (typeof type === 'string') {
      return this.#primitives[type]();
    }
    if ('option' in type) {
      return this.#tag(2) === 0 ? null : this.read(type.option);
    }
    if ('array' in type) {
      const [element, length] = type.array;
      return element === 'u8' ? this.#bytes(length) : Array.from({ length }, () => this.read(element));
    }
    if ('vec' in type) {
      const values: BorshValue[] = [];
      // Ends at the last byte, for any claimed length.
      for (let left = this.#view.getUint32(this.#take(4), true); left > 0; left -= 1) {
        values.push(this.read(type.vec));
      }
      return values;
    }
    const fields = structFields(type.defined.name);
    if (fields !== null) return this.readFields(fields);
    const variants = variantsOf(typeDef(type.defined.name)) ?? [];
    return variants[this.#tag(variants.length)] ?? null;
  }

  readonly #primitives: Record<Extract<IdlType, string>, () => BorshValue> = {
    bool: () => this.#tag(2) === 1,
    u8: () => this.#view.getUint8(this.#take(1)),
    u16: () => this.#view.getUint16(this.#take(2), true),
    u32: () => this.#view.getUint32(this.#take(4), true),
    u64: () => this.#view.getBigUint64(this.#take(8), true),
    i64: () => this.#view.getBigInt64(this.#take(8), true),
    pubkey: () => new PublicKey(this.#bytes(32)),
    string: () => this.#string(),
  };

  #string(): string {
    const length = this.#view.getUint32(this.#take(4), true);
    if (length > MAX_STRING_BYTES) {
      throw new RangeError(`A string of ${length} bytes.`);
    }
    return utf8Decoder.decode(this.#bytes(length));
  }

  /** Reads named values in the order of the IDL, names in camelCase. */
  readFields(fields: IdlField[]): Record<string, BorshValue> {
    return Object.fromEntries(fields.map((field) => [camelCase(field.name), this.read(field.type)]));
  }
}

/** True when `bytes` begin with an eight-byte discriminator. */
export function hasDiscriminator(bytes: Uint8Array, discriminator: number[]): boolean {
  return bytes.length >= discriminator.length && discriminator.every((byte, index) => bytes[index] === byte);
}
