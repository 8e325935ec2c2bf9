import { ComputeBudgetProgram, type VersionedMessage } from '@solana/web3.js';

const LAMPORTS_PER_SIGNATURE = 5_000n;
const MAX_COMPUTE_UNITS = 1_400_000n;
const DEFAULT_UNITS_PER_INSTRUCTION = 200_000n;
const DEFAULT_UNITS_PER_BUILTIN = 3_000n;
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;

const COMPUTE_BUDGET = ComputeBudgetProgram.programId.toBase58();
/** Programs that are part of the runtime: an instruction for one of them reserves only a few compute units. */
const BUILTINS = new Set([
  COMPUTE_BUDGET,
  '11111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
]);
/** Programs whose first data byte counts signatures that the network verifies, and charges for. */
const PRECOMPILES = new Set([
  'KeccakSecp256k11111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
]);

const SET_COMPUTE_UNIT_LIMIT = 2;
const SET_COMPUTE_UNIT_PRICE = 3;

/** The fee in lamports that the network takes for a message: 5,000 per signature, and the priority fee it offers. */
export function feeOf(message: VersionedMessage): bigint {
  let signatures = BigInt(message.header.numRequiredSignatures);
  let reservedUnits = 0n;
  let unitLimit: bigint | null = null;
  let microLamportsPerUnit = 0n;
  for (const { programIdIndex, data } of message.compiledInstructions) {
    const program = message.staticAccountKeys[programIdIndex]?.toBase58() ?? '';
    reservedUnits += BUILTINS.has(program) ? DEFAULT_UNITS_PER_BUILTIN : DEFAULT_UNITS_PER_INSTRUCTION;
    if (PRECOMPILES.has(program)) signatures += BigInt(data[0] ?? 0);
    if (program !== COMPUTE_BUDGET) continue;
    const bytes = Buffer.from(data);
    if (bytes[0] === SET_COMPUTE_UNIT_LIMIT && bytes.length >= 5) unitLimit = BigInt(bytes.readUInt32LE(1));
    if (bytes[0] === SET_COMPUTE_UNIT_PRICE && bytes.length >= 9)
      microLamportsPerUnit = bytes.readBigUInt64LE(1);
  }
  const requested = unitLimit ?? reservedUnits;
  const units = requested < MAX_COMPUTE_UNITS ? requested : MAX_COMPUTE_UNITS;
  const priority =
    (units * microLamportsPerUnit + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT;
  return signatures * LAMPORTS_PER_SIGNATURE + priority;
}
