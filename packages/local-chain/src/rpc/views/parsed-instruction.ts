import bs58 from 'bs58';
import type { Json } from '../json.js';

/** An instruction with indexes into the transaction's addresses. */
export interface IndexedInstruction {
  programIdIndex: number;
  accounts: readonly number[];
  data: Uint8Array;
  /** 1 for a top-level instruction; null where a validator does not tell. */
  stackHeight: number | null;
}

const SYSTEM_PROGRAM = '11111111111111111111111111111111';
const MEMO_PROGRAMS: ReadonlySet<string> = new Set([
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
]);

const CREATE_ACCOUNT = 0;
const TRANSFER = 2;

/** Whether the program writes its instruction data as text into the ledger. */
export function isMemoProgram(programId: string): boolean {
  return MEMO_PROGRAMS.has(programId);
}

export function indexedInstructionJson(instruction: IndexedInstruction): Json {
  return {
    programIdIndex: instruction.programIdIndex,
    accounts: instruction.accounts,
    data: bs58.encode(instruction.data),
    stackHeight: instruction.stackHeight,
  };
}

/**
 * The encoding `jsonParsed`: parsed for memos, transfers and account creations. For all other programs it has addresses
 * in place of indexes, as a validator shows programs that it does not know.
 */
export function parsedInstructionJson(instruction: IndexedInstruction, addresses: readonly string[]): Json {
  const programId = addresses[instruction.programIdIndex] ?? '';
  const accounts = instruction.accounts.map((index) => addresses[index] ?? '');
  const { stackHeight } = instruction;
  const data = Buffer.from(instruction.data);
  if (isMemoProgram(programId)) {
    return { program: 'spl-memo', programId, parsed: data.toString('utf8'), stackHeight };
  }
  const parsed = programId === SYSTEM_PROGRAM ? parseSystem(data, accounts) : null;
  if (parsed !== null) return { program: 'system', programId, parsed, stackHeight };
  return { programId, accounts, data: bs58.encode(data), stackHeight };
}

function parseSystem(data: Buffer, accounts: readonly string[]): Json {
  const [source, other] = accounts;
  if (data.length < 12 || source === undefined || other === undefined) return null;
  const lamports = data.readBigUInt64LE(4);
  switch (data.readUInt32LE(0)) {
    case TRANSFER:
      return { type: 'transfer', info: { source, destination: other, lamports } };
    case CREATE_ACCOUNT:
      if (data.length < 52) return null;
      return {
        type: 'createAccount',
        info: {
          source,
          newAccount: other,
          lamports,
          space: data.readBigUInt64LE(12),
          owner: bs58.encode(data.subarray(20, 52)),
        },
      };
    default:
      return null;
  }
}
