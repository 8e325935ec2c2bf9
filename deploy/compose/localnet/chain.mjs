// The chain of compose.localnet.yaml: the program is on it from the start, and belongs to the key `upgrade-authority`.
import { startLocalChain } from '@agent-rental/local-chain';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { readWalletFile } from '@agent-rental/sdk/node';

const chain = await startLocalChain({
  stateDir: `${process.env.STATE_DIR}/chain`,
  rpcPort: Number(process.env.PORT),
  host: '0.0.0.0',
  programs: [
    {
      programId: MARKETPLACE_PROGRAM_ID.toBase58(),
      soPath: marketplaceSoPath(),
      upgradeAuthority: readWalletFile('/run/secrets/upgrade-authority').address,
    },
  ],
  onLog: (entry) => process.stdout.write(`${JSON.stringify(entry)}\n`),
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void chain.close());
const { reason } = await chain.closed;
if (reason !== 'closed') {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
process.exit(0);
