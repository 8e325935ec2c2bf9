import { decodeInstruction, type InstructionName } from '@agent-rental/program-client';
import { PublicKey, type VersionedMessage } from '@solana/web3.js';

/** The amount that an instruction takes out of the wallet for a rental. */
export interface RentalSpend {
  listingAddress: string;
  /** The price that it agrees to at most, or the deposit. */
  lamports: bigint;
  /** The instruction with its arguments, in hex: equal for equal rentals. */
  terms: string;
}

/** Where each instruction that pays for a rental says how much; null: it pays for none. Limits of API keys count these amounts. */
const AMOUNT: Readonly<Record<InstructionName, string | null>> = {
  purchase_one_time: 'maxPriceLamports',
  purchase_subscription: 'maxPriceLamports',
  renew_subscription: 'maxPriceLamports',
  purchase_per_query: 'depositLamports',
  topup_balance: 'amountLamports',
  fund_balance: 'amountLamports',
  verify_access: null,
  create_listing: null,
  update_listing: null,
  close_listing: null,
  moderate_listing: null,
  withdraw_earnings: null,
  revoke_access: null,
  revoke_per_query_access: null,
  consume_query: null,
  consume_queries: null,
  initialize_protocol: null,
  update_protocol: null,
};

/** The amounts that a transaction spends on rentals, by its own instructions of the program. */
export function rentalSpendsOf(message: VersionedMessage, programId: PublicKey): RentalSpend[] {
  const keys = message.staticAccountKeys;
  return message.compiledInstructions.flatMap((instruction) => {
    if (!keys[instruction.programIdIndex]?.equals(programId)) return [];
    // The addresses of a lookup table are not known here: the default key matches no listing.
    const accounts = instruction.accountKeyIndexes.map((index) => keys[index] ?? PublicKey.default);
    const decoded = decodeInstruction(instruction.data, accounts);
    const amount = decoded ? AMOUNT[decoded.name] : null;
    if (!decoded || amount === null) return [];
    const listingAddress = (decoded.accounts['listing'] ?? PublicKey.default).toBase58();
    const terms = Buffer.from(instruction.data).toString('hex');
    return [{ listingAddress, lamports: decoded.args[amount] as bigint, terms }];
  });
}
