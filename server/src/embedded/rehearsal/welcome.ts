import { join } from 'node:path';
import type { EmbeddedKeys } from '../keypairs.js';
import { quoted } from './settings.js';

/** Keys and their files. */
const SHOWN_KEYS = {
  admin: 'admin.json',
  authority: 'authority.json',
  treasury: 'treasury.json',
  upgradeAuthority: 'upgrade-authority.json',
} as const;

/** The parts that are up, and the next commands of a newcomer. */
export function describeRehearsal({
  baseUrl,
  rpcUrl,
  database,
  redis,
  isolation,
  keys,
  folder,
  settingsFile,
  logFile,
}: {
  baseUrl: string;
  rpcUrl: string;
  database: string;
  redis: string;
  isolation: string;
  keys: Pick<EmbeddedKeys, keyof typeof SHOWN_KEYS>;
  folder: string;
  settingsFile: string;
  logFile: string;
}): string {
  const shownKeys = (Object.keys(SHOWN_KEYS) as (keyof typeof SHOWN_KEYS)[]).map(
    (name) => `  ${keys[name].publicKey.toBase58()}  ${join(folder, 'keys', SHOWN_KEYS[name])}`,
  );
  return `The production configuration is up at ${baseUrl}, with worthless money.

  PostgreSQL    ${database}
  Redis         ${redis}
  Solana RPC    ${rpcUrl}: a chain of this machine, on which the program is initialised
  Review        by the operator
  Isolation     ${isolation}
  Log           ${logFile}

Its keys:

${shownKeys.join('\n')}

In another shell, in the folder of the repository:

  . ${quoted(settingsFile)}
  npm run operator -- doctor

Offer an agent as its creator, with a practice model:

  agent-rental model &
  agent-rental init "$REHEARSAL/first-agent"
  agent-rental wallet create "$REHEARSAL/creator.json" --fund 1 --airdrop
  (cd "$REHEARSAL/first-agent" && agent-rental publish --wallet "$REHEARSAL/creator.json")

Decide as the operator, and publish it as the creator:

  npm run operator -- reviews
  npm run operator -- review <listing_id> --run '{"task": "Say it plainly.", "input": {"text": "Pursuant to this."}}'
  npm run operator -- approve <listing_id>
  (cd "$REHEARSAL/first-agent" && agent-rental publish --wallet "$REHEARSAL/creator.json")

Rent it, and look at the program:

  agent-rental wallet create "$REHEARSAL/renter.json" --fund 1 --airdrop
  agent-rental rent <listing_id> --wallet "$REHEARSAL/renter.json" --yes
  agent-rental run <listing_id> 'Say it plainly.' --input '{"text": "Pursuant to this."}' --wallet "$REHEARSAL/renter.json"
  npm run operator -- protocol

Ctrl-C ends all of it, and removes the database, the keys and the folder.
`;
}
