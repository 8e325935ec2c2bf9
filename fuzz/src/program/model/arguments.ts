import type { ArgType, InstructionName } from './instruction-table.js';
import { DISCRIMINATORS, INSTRUCTION_NAMES, instructionRule } from './instruction-table.js';

/** The value of an argument; an option that is not given is null, a list has the fields of each of its members. */
export type ArgValue = boolean | number | bigint | string | Uint8Array | null | readonly Args[];

/** The arguments of one instruction by name. */
export interface Args {
  [name: string]: ArgValue;
}

const byDiscriminator = new Map(
  INSTRUCTION_NAMES.map((name) => [DISCRIMINATORS[name].readBigUInt64LE(), name]),
);

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The instruction that data begins like, or null. */
export function instructionOf(data: Buffer): InstructionName | null {
  return byDiscriminator.get(data.readBigUInt64LE()) ?? null;
}

/** Encodes an instruction's data in borsh. */
export function encodeData(name: InstructionName, args: Args): Buffer {
  const parts: Buffer[] = [DISCRIMINATORS[name]];
  encodeFields(parts, instructionRule(name).args, args);
  return Buffer.concat(parts);
}

type Fields = readonly (readonly [string, ArgType])[];

function encodeFields(parts: Buffer[], fields: Fields, args: Args): void {
  for (const [field, type] of fields) {
    encode(parts, type, args[field] ?? null);
  }
}

function lengthPrefix(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(length);
  return bytes;
}

/** Whether an argument is a list. */
export function isList(value: ArgValue | undefined): value is readonly Args[] {
  return Array.isArray(value);
}

function encode(parts: Buffer[], type: ArgType, value: ArgValue): void {
  if (typeof type === 'object' && 'list' in type) {
    const members = isList(value) ? value : [];
    parts.push(lengthPrefix(members.length));
    members.forEach((member) => encodeFields(parts, type.list, member));
  } else if (typeof type === 'object') {
    parts.push(Buffer.from([value === null ? 0 : 1]));
    if (value !== null) {
      encode(parts, type.option, value);
    }
  } else if (typeof value === 'bigint') {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(value);
    parts.push(bytes);
  } else if (typeof value === 'string') {
    const text = Buffer.from(value);
    parts.push(lengthPrefix(text.length), text);
  } else if (typeof value === 'number') {
    parts.push(type === 'u16' ? Buffer.from([value & 0xff, value >> 8]) : Buffer.from([value]));
  } else if (typeof value === 'boolean') {
    parts.push(Buffer.from([value ? 1 : 0]));
  } else if (value instanceof Uint8Array) {
    parts.push(Buffer.from(value));
  }
}

/** Reads the arguments behind the discriminator; null when the data is not exactly them. */
export function decodeArgs(name: InstructionName, data: Buffer): Args | null {
  const reader = new Reader(data, 8);
  const args = reader.fields(instructionRule(name).args);
  return args !== undefined && reader.isAtEnd() ? args : null;
}

class Reader {
  readonly #data: Buffer;
  #at: number;

  constructor(data: Buffer, at: number) {
    this.#data = data;
    this.#at = at;
  }

  isAtEnd(): boolean {
    return this.#at === this.#data.length;
  }

  #take(size: number): Buffer | undefined {
    if (size > this.#data.length - this.#at) {
      return undefined;
    }
    this.#at += size;
    return this.#data.subarray(this.#at - size, this.#at);
  }

  /** The next values by name; undefined when the bytes are not these. */
  fields(fields: Fields): Args | undefined {
    const args: Args = {};
    for (const [field, type] of fields) {
      const value = this.read(type);
      if (value === undefined) {
        return undefined;
      }
      args[field] = value;
    }
    return args;
  }

  #list(fields: Fields): Args[] | undefined {
    const length = this.#take(4)?.readUInt32LE();
    if (length === undefined) {
      return undefined;
    }
    const members: Args[] = [];
    while (members.length < length) {
      const member = this.fields(fields);
      if (member === undefined) {
        return undefined;
      }
      members.push(member);
    }
    return members;
  }

  /** The next value; undefined when the bytes are not one. */
  read(type: ArgType): ArgValue | undefined {
    if (typeof type === 'object' && 'list' in type) {
      return this.#list(type.list);
    }
    if (typeof type === 'object') {
      const isGiven = this.read('bool');
      return isGiven === true ? this.read(type.option) : isGiven === false ? null : undefined;
    }
    switch (type) {
      case 'bool': {
        const tag = this.#take(1)?.[0];
        return tag === undefined || tag > 1 ? undefined : tag === 1;
      }
      case 'model': {
        const tag = this.#take(1)?.[0];
        return tag === undefined || tag > 2 ? undefined : tag;
      }
      case 'u16':
        return this.#take(2)?.readUInt16LE();
      case 'u64':
        return this.#take(8)?.readBigUInt64LE();
      case 'pubkey':
        return this.#take(32);
      case 'bytes16':
        return this.#take(16);
      default: {
        const length = this.#take(4)?.readUInt32LE();
        const bytes = length === undefined ? undefined : this.#take(length);
        return bytes === undefined ? undefined : textOf(bytes);
      }
    }
  }
}

function textOf(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
