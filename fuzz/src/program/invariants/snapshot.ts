import type { ChainAccount } from '../world/chain.js';
import type { Meta } from '../model/call.js';
import type { AddressId } from '../world/universe.js';

/** What the chain held before an instruction. */
export interface Snapshot {
  ids: readonly AddressId[];
  metas: readonly Meta[];
  accounts: readonly (ChainAccount | null)[];
}
