// Runs in the empty project: the tarballs hold the files that the packages start by a path.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalChain } from '@agent-rental/local-chain';
import { findProtocolAddress, MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { createDenoDriver } from '@agent-rental/sandbox';

const stateDir = await mkdtemp(join(tmpdir(), 'agent-rental-smoke-'));
try {
  const programId = MARKETPLACE_PROGRAM_ID.toBase58();
  const upgradeAuthority = findProtocolAddress().address.toBase58();
  const chain = await startLocalChain({
    stateDir: join(stateDir, 'chain'),
    rpcPort: 0,
    programs: [{ programId, soPath: marketplaceSoPath(), upgradeAuthority }],
  });
  await chain.close();
  const driver = await createDenoDriver({ stateDir: join(stateDir, 'sandbox') });
  const sandbox = await driver.start({ entry: 'runner' });
  await sandbox.kill();
  await driver.close();
} finally {
  await rm(stateDir, { recursive: true, force: true });
}
