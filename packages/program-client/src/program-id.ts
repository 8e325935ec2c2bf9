import { PublicKey } from '@solana/web3.js';

/**
 * The program id that every function of this package uses unless it is given another one.
 *
 * It is not on the ed25519 curve, so there is no private key for it: the embedded chain loads the program
 * there. A deployment to a public network has the id of its program keypair and passes it as `programId`.
 * The program has no id compiled in.
 */
export const MARKETPLACE_PROGRAM_ID: PublicKey = new PublicKey('AgentRenta1Market11111111111111111111111111');
