/** A type as Anchor's IDL spec 0.1.0 writes it, cut down to what this program uses. */
export type IdlType =
  | 'bool'
  | 'u8'
  | 'u16'
  | 'u32'
  | 'u64'
  | 'i64'
  | 'string'
  | 'pubkey'
  | { option: IdlType }
  | { array: [IdlType, number] }
  | { vec: IdlType }
  | { defined: { name: string } };

/** A named value: an argument, or a field of an account or event. */
export interface IdlField {
  name: string;
  docs?: string[];
  type: IdlType;
}

/** One seed of a program-derived address. */
type IdlSeed =
  | { kind: 'const'; value: number[] }
  | { kind: 'arg'; path: string }
  | { kind: 'account'; path: string; account?: string };

/** One account of an instruction, in the order in which it is passed. */
export interface IdlInstructionAccount {
  name: string;
  docs?: string[];
  writable?: boolean;
  signer?: boolean;
  optional?: boolean;
  address?: string;
  pda?: { seeds: IdlSeed[]; program?: { kind: 'const'; value: number[] } };
  relations?: string[];
}

/** One instruction. `discriminator` is the first eight bytes of its data. */
export interface IdlInstruction {
  name: string;
  docs?: string[];
  discriminator: number[];
  accounts: IdlInstructionAccount[];
  args: IdlField[];
  returns?: IdlType;
}

/** A struct (accounts, events) or an enum without payloads. */
export interface IdlTypeDef {
  name: string;
  docs?: string[];
  type: { kind: 'struct'; fields: IdlField[] } | { kind: 'enum'; variants: { name: string }[] };
}

/** The program's interface: Anchor IDL spec 0.1.0, assignable to the `Idl` type of Anchor's clients. */
export interface MarketplaceIdl {
  address: string;
  metadata: { name: string; version: string; spec: string; description?: string };
  docs?: string[];
  instructions: IdlInstruction[];
  accounts: { name: string; discriminator: number[] }[];
  events: { name: string; discriminator: number[] }[];
  errors: { code: number; name: string; msg: string }[];
  types: IdlTypeDef[];
  constants: { name: string; docs?: string[]; type: IdlType; value: string }[];
}
