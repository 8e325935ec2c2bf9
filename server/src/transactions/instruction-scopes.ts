import type { ApiKeyScope } from '@agent-rental/contract';
import {
  decodeInstruction,
  type DecodedInstruction,
  type InstructionName,
} from '@agent-rental/program-client';
import { PublicKey, type VersionedMessage } from '@solana/web3.js';

/** The scope that an API key needs for each instruction. Instructions of creators need the right to publish. */
const SCOPES = {
  purchase_one_time: 'rent',
  purchase_subscription: 'rent',
  purchase_per_query: 'rent',
  renew_subscription: 'rent',
  topup_balance: 'rent',
  // The authority signs it, so no caller sends it.
  fund_balance: 'publish',
  verify_access: 'rent',
  create_listing: 'publish',
  update_listing: 'publish',
  close_listing: 'publish',
  moderate_listing: 'publish',
  withdraw_earnings: 'publish',
  revoke_access: 'publish',
  // A buyer's own balance comes back; see below.
  revoke_per_query_access: 'publish',
  consume_query: 'publish',
  consume_queries: 'publish',
  initialize_protocol: 'publish',
  update_protocol: 'publish',
} as const satisfies Record<InstructionName, ApiKeyScope>;

/** The scopes that an API key needs to send a transaction of that wallet, by its instructions of the program. */
export function transactionScopes(
  message: VersionedMessage,
  wallet: string,
  programId: PublicKey,
): Set<ApiKeyScope> {
  return new Set(
    programCalls(message, programId).map((call) => {
      // An unreadable instruction may be anything.
      if (call === null) return 'publish';
      const isReclaim =
        call.name === 'revoke_per_query_access' && call.accounts['buyer']?.toBase58() === wallet;
      return isReclaim ? 'rent' : SCOPES[call.name];
    }),
  );
}

/** How many listings a transaction creates. */
export function createdListings(message: VersionedMessage, programId: PublicKey): number {
  return programCalls(message, programId).filter((call) => call?.name === 'create_listing').length;
}

/** The calls of the program; null for one that cannot be read. */
function programCalls(message: VersionedMessage, programId: PublicKey): (DecodedInstruction | null)[] {
  const keys = message.staticAccountKeys;
  return message.compiledInstructions
    .filter(({ programIdIndex }) => keys[programIdIndex]?.equals(programId))
    .map(({ data, accountKeyIndexes }) =>
      // The addresses of a lookup table are not known here.
      decodeInstruction(
        data,
        accountKeyIndexes.map((index) => keys[index] ?? PublicKey.default),
      ),
    );
}
