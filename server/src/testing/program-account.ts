import {
  ACCOUNT_DISCRIMINATORS,
  ACCOUNT_SIZES,
  ACCOUNT_VERSION,
  MARKETPLACE_PROGRAM_ID,
  type AccountName,
} from '@agent-rental/program-client';

/** An account of the program, with these bytes set. */
export function programAccount(name: AccountName, bytes: Readonly<Record<number, number>> = {}) {
  const data = Buffer.alloc(ACCOUNT_SIZES[name]);
  data.set(ACCOUNT_DISCRIMINATORS[name]);
  data[8] = ACCOUNT_VERSION;
  for (const [offset, byte] of Object.entries(bytes)) data[Number(offset)] = byte;
  return { data, owner: MARKETPLACE_PROGRAM_ID, lamports: 1, executable: false };
}
