/** Where the clock's account has the Unix time, in seconds. */
const UNIX_TIME_OFFSET = 32;

/** Reads the chain's time from the data of its account `SYSVAR_CLOCK_PUBKEY`, in Unix seconds. */
export function decodeClock(data: Uint8Array): bigint {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return view.getBigInt64(UNIX_TIME_OFFSET, true);
}
