import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findRunningPostgres } from '@agent-rental/server/testing';
import { newStateDir, readKeypair, removeStateDir } from '@agent-rental/test/support/marketplace';
import { descendants } from '@agent-rental/test/support/processes/processes';
import { until } from '@agent-rental/test/support/timing/until';
import { Connection } from '@solana/web3.js';
import { queryOf, type Part, type Stack } from './stack.js';
import { SupervisedServer } from './supervised-server.js';

const MAIN = fileURLToPath(new URL('../../../../../server/dist/main.js', import.meta.url));
/** The time in which a confirmed block becomes final. */
const UNTIL_FINAL_MS = 1_000;

/** The commands of the parts' processes among the server's descendants. */
const COMMANDS: Readonly<Partial<Record<Part, RegExp>>> = {
  chain: /local-chain\/dist\/child-main\.js/,
  postgres: /\/postgres -D /,
};

export async function openEmbeddedStack(env: Readonly<Record<string, string>>): Promise<Stack> {
  const [stateDir, tempDir] = [await newStateDir(), await newStateDir()];
  const [port, chainPort] = [await freePorts(1), await freePorts(2)];
  const server = await SupervisedServer.start({
    entry: MAIN,
    env: {
      STATE_DIR: stateDir,
      TMPDIR: tempDir,
      PORT: String(port),
      LOCAL_CHAIN_PORT: String(chainPort),
      SANDBOX_POOL_SIZE: '2',
      LOG_LEVEL: 'info',
      ...env,
    },
  });
  const dev = { base_url: `http://127.0.0.1:${port}`, rpc_url: `http://127.0.0.1:${chainPort}` };
  const treasury = await readKeypair(join(stateDir, 'keys', 'treasury.json'));
  return {
    name: 'embedded',
    dev,
    connection: patientConnection(dev.rpc_url),
    treasury: treasury.publicKey,
    folders: [tempDir, join(stateDir, 'sandbox')],
    server,
    async pidOf(part) {
      if (part === 'server') return server.pid;
      const command = COMMANDS[part];
      const found = (await descendants(server.pid)).find((child) => command?.test(child.command));
      if (!found) throw new Error(`No ${part} is among the processes of the server.`);
      return found.pid;
    },
    query: queryOf(() => findRunningPostgres(stateDir)),
    finalize: () => delay(UNTIL_FINAL_MS),
    async close() {
      await server.close();
      const locks = (await readdir(stateDir)).filter((name) => name.startsWith('lock'));
      if (locks.length > 1) throw new Error(`Locks are left in the state folder: ${locks.join(', ')}`);
      await Promise.all([removeStateDir(stateDir), removeStateDir(tempDir)]);
    },
  };
}

/** A connection that retries while the chain restarts. */
function patientConnection(rpcUrl: string): Connection {
  return new Connection(rpcUrl, {
    commitment: 'confirmed',
    fetch: async (...asked: Parameters<typeof fetch>) => {
      // The last attempt reports the failure.
      const answer = await until(() => fetch(...asked).catch(() => undefined), 5_000).catch(() => undefined);
      return answer ?? fetch(...asked);
    },
  });
}

/** Finds consecutive free ports below the systems' ephemeral ports. @returns the first one. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 10_000);
    const free = await Promise.all(Array.from({ length: count }, (_, index) => isFree(first + index)));
    if (free.every(Boolean)) return first;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
