import { PublicKey } from '@solana/web3.js';
import type { AccountState } from './account-state.js';

export interface DeployedProgram {
  programId: Uint8Array;
  elf: Uint8Array;
  upgradeAuthority: Uint8Array;
}

const LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');
const PROGRAM_TAG = 2;
const PROGRAM_DATA_TAG = 3;
const PROGRAM_BYTES = 36;
const PROGRAM_DATA_HEADER_BYTES = 45;

function programDataAddress(programId: Uint8Array): Uint8Array {
  return PublicKey.findProgramAddressSync([programId], LOADER)[0].toBytes();
}

/**
 * The two accounts of an upgradeable program: ProgramData (tag, deployment slot 0, upgrade authority, code) and Program
 * (tag, address of ProgramData). In this order: the runtime loads the code when it is given the second.
 */
export function upgradeableProgramAccounts(
  { programId, elf, upgradeAuthority }: DeployedProgram,
  minimumBalance: (dataBytes: number) => bigint,
): { address: Uint8Array; account: AccountState }[] {
  const dataAddress = programDataAddress(programId);
  const header = Buffer.alloc(PROGRAM_DATA_HEADER_BYTES);
  header.writeUInt32LE(PROGRAM_DATA_TAG, 0);
  header.writeBigUInt64LE(0n, 4);
  header.writeUInt8(1, 12);
  header.set(upgradeAuthority, 13);
  const program = Buffer.alloc(PROGRAM_BYTES);
  program.writeUInt32LE(PROGRAM_TAG, 0);
  program.set(dataAddress, 4);
  const account = (data: Uint8Array, executable: boolean): AccountState => ({
    lamports: minimumBalance(data.length),
    owner: LOADER.toBytes(),
    executable,
    data,
  });
  return [
    { address: dataAddress, account: account(Buffer.concat([header, elf]), false) },
    { address: programId, account: account(program, true) },
  ];
}
