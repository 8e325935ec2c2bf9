import { idl } from './generated/idl.js';
import type { MarketplaceIdl } from './idl-types.js';

/**
 * The IDL as the program's source gives it. `address` is {@link MARKETPLACE_PROGRAM_ID}; for a program deployed
 * elsewhere give an Anchor client `{...MARKETPLACE_IDL, address: programId.toBase58()}`.
 */
export const MARKETPLACE_IDL: MarketplaceIdl = idl;
