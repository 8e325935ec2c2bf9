import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startLocalChain } from '@agent-rental/local-chain';
import { Connection, PublicKey, TransactionInstruction } from '@solana/web3.js';

/** The address of Lighthouse, by whose assertions wallets guard the transactions that they sign. */
export const LIGHTHOUSE = new PublicKey('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95');

/** Makes an instruction of Lighthouse that reads one account. */
export function lighthouse(data: Uint8Array, pubkey: PublicKey): TransactionInstruction {
  const keys = [{ pubkey, isSigner: false, isWritable: false }];
  return new TransactionInstruction({ programId: LIGHTHOUSE, keys, data: Buffer.from(data) });
}

/**
 * The stand-in in sBPF v3. The runtime points `r2` at the instruction's data. Its first byte is 2 to 17 for an assertion; 0 and
 * 1 change memory accounts.
 */
const CODE = Buffer.from(
  [
    '7123000000000000', // r3 = first byte at r2
    'b700000001000000', // r0 = 1, an error
    'a503020002000000', // to the end if r3 < 2
    '2503010011000000', // to the end if r3 > 17
    'b700000000000000', // r0 = 0, success
    '9500000000000000', // end
  ].join(''),
  'hex',
);

/** Where the runtime maps the code of a program. */
const CODE_ADDRESS = 1n << 32n;
const ELF_HEADER_BYTES = 64;
const SEGMENT_HEADER_BYTES = 56;

/** The program's file: an ELF-64 header, the header of its one segment, and the code. */
function elf(): Buffer {
  const headers = Buffer.alloc(ELF_HEADER_BYTES + SEGMENT_HEADER_BYTES);
  // ELF-64 with the low byte first: a shared object (3) for BPF (247).
  headers.write('7f454c46020101', 'hex');
  headers.writeUInt16LE(3, 16);
  headers.writeUInt16LE(247, 18);
  headers.writeUInt32LE(1, 20);
  headers.writeBigUInt64LE(CODE_ADDRESS, 24);
  headers.writeBigUInt64LE(BigInt(ELF_HEADER_BYTES), 32);
  // The version of sBPF.
  headers.writeUInt32LE(3, 48);
  headers.writeUInt16LE(ELF_HEADER_BYTES, 52);
  headers.writeUInt16LE(SEGMENT_HEADER_BYTES, 54);
  headers.writeUInt16LE(1, 56);
  // One segment, to load (1) and to execute (1).
  headers.writeUInt32LE(1, 64);
  headers.writeUInt32LE(1, 68);
  headers.writeBigUInt64LE(BigInt(headers.length), 72);
  headers.writeBigUInt64LE(CODE_ADDRESS, 80);
  headers.writeBigUInt64LE(CODE_ADDRESS, 88);
  headers.writeBigUInt64LE(BigInt(CODE.length), 96);
  headers.writeBigUInt64LE(BigInt(CODE.length), 104);
  return Buffer.concat([headers, CODE]);
}

/**
 * Puts a stand-in for Lighthouse on the chain of a marketplace that has not started yet. It accepts each assertion without
 * evaluating it, and fails for its other instructions. The real program is on clusters alone.
 */
export async function addLighthouse(stateDir: string): Promise<void> {
  const soPath = join(stateDir, 'lighthouse.so');
  await writeFile(soPath, elf());
  const programId = LIGHTHOUSE.toBase58();
  const chain = await startLocalChain({
    stateDir: join(stateDir, 'chain'),
    rpcPort: 0,
    programs: [{ programId, soPath, upgradeAuthority: programId }],
  });
  try {
    const connection = new Connection(chain.rpcUrl, 'processed');
    const loader = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');
    const [code] = PublicKey.findProgramAddressSync([LIGHTHOUSE.toBytes()], loader);
    // The chain keeps the accounts that a transaction changed, also at a start without this program.
    for (const account of [code, LIGHTHOUSE]) await connection.requestAirdrop(account, 1);
  } finally {
    await chain.close();
    await rm(soPath);
  }
}
