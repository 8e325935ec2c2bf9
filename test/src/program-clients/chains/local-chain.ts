import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalChain } from '@agent-rental/local-chain';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { Connection, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { rpcResult } from './json-rpc.js';
import type { TestChainKind } from './test-chain.js';

const UNIX_TIMESTAMP_OFFSET = 32;

/** The embedded chain, as the server starts it: in a separate process. */
export const localChain: TestChainKind = {
  name: 'local-chain',
  async start(upgradeAuthority) {
    const stateDir = await mkdtemp(join(tmpdir(), 'program-clients-'));
    const chain = await startLocalChain({
      consensus: 'tower',
      stateDir,
      rpcPort: 0,
      testHooks: true,
      programs: [
        {
          programId: MARKETPLACE_PROGRAM_ID.toBase58(),
          soPath: marketplaceSoPath(),
          upgradeAuthority: upgradeAuthority.publicKey.toBase58(),
        },
      ],
    }).catch(async (error: unknown) => {
      await rm(stateDir, { recursive: true, force: true });
      throw error;
    });
    const { rpcUrl, wsUrl } = chain;
    const connection = new Connection(rpcUrl, { commitment: 'confirmed', wsEndpoint: wsUrl });
    return {
      name: 'local-chain',
      connection,
      rpcUrl,
      wsUrl,
      async airdrop(to, lamports) {
        await connection.requestAirdrop(to, Number(lamports));
      },
      async passTime(seconds) {
        const clock = await connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY);
        const now = clock?.data.readBigInt64LE(UNIX_TIMESTAMP_OFFSET) ?? 0n;
        await rpcResult(rpcUrl, 'localchain_warp', [{ unixTimestamp: Number(now + seconds) }]);
      },
      async close() {
        await chain.close();
        await rm(stateDir, { recursive: true, force: true });
      },
    };
  },
};
