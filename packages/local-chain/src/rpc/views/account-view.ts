import bs58 from 'bs58';
import { RENT_EXEMPT_EPOCH, type AccountState } from '../../ledger/account-state.js';
import type { Json } from '../json.js';
import type { AccountEncoding } from '../params.js';
import { RpcError } from '../rpc-error.js';
import { zstdFrame } from './zstd-frame.js';

export interface AccountView {
  encoding?: AccountEncoding | null | undefined;
  dataSlice?: { offset: number; length: number } | null | undefined;
}

/** Longer data is not written in base58: encoding is quadratic. */
const MAX_BASE58_BYTES = 128;

export function accountJson(account: AccountState, view: AccountView, parsed?: Json): Json {
  return {
    lamports: account.lamports,
    data: view.encoding === 'jsonParsed' && parsed !== undefined ? parsed : encodedData(account.data, view),
    owner: bs58.encode(account.owner),
    executable: account.executable,
    rentEpoch: RENT_EXEMPT_EPOCH,
    space: account.data.length,
  };
}

function encodedData(whole: Uint8Array, { encoding, dataSlice }: AccountView): Json {
  const data =
    dataSlice == null ? whole : whole.subarray(dataSlice.offset, dataSlice.offset + dataSlice.length);
  if (encoding == null || encoding === 'binary') return base58(data);
  if (encoding === 'base58') return [base58(data), 'base58'];
  if (encoding === 'base64+zstd') return [zstdFrame(data).toString('base64'), 'base64+zstd'];
  // Where no parser knows the account, `jsonParsed` gives base64 too.
  return [Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64'), 'base64'];
}

function base58(data: Uint8Array): string {
  if (data.length <= MAX_BASE58_BYTES) return bs58.encode(data);
  throw new RpcError(
    'invalidRequest',
    'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
  );
}
