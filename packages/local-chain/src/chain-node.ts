import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import bs58 from 'bs58';
import { LocalChainError } from './errors.js';
import { Ledger, type LedgerOptions } from './ledger/ledger.js';
import type { DeployedProgram } from './ledger/upgradeable-program.js';
import type { ChainConfig } from './options.js';
import { Subscriptions } from './pubsub/subscriptions.js';
import { WebsocketServer } from './pubsub/websocket-server.js';
import { accountMethods } from './rpc/methods/account-methods.js';
import { blockMethods } from './rpc/methods/block-methods.js';
import { clusterMethods } from './rpc/methods/cluster-methods.js';
import { faucetMethods } from './rpc/methods/faucet-methods.js';
import { Dispatcher } from './rpc/dispatcher.js';
import { historyMethods } from './rpc/methods/history-methods.js';
import { limitServer, rpcRequestListener } from './rpc/http-handler.js';
import { refuseConfirmed } from './rpc/params.js';
import { closeServer, listenOnPortPair } from './rpc/port-pair.js';
import { testHookMethods } from './rpc/methods/test-hook-methods.js';
import { transactionMethods } from './rpc/methods/transaction-methods.js';
import { lockState } from './storage/state-lock.js';

export interface ChainNode {
  /** The websocket is on this port and on the one after it. */
  rpcPort: number;
  close(): Promise<void>;
}

export async function startChainNode(
  config: ChainConfig,
  report: Pick<LedgerOptions, 'onLog' | 'onFatal'>,
): Promise<ChainNode> {
  mkdirSync(config.stateDir, { recursive: true, mode: 0o700 });
  const lock = await lockState(config.stateDir);
  const ledger = new Ledger({ ...config, ...report, programs: readPrograms(config) });
  const settled = (): Promise<void> => ledger.settled();
  const checkParams = config.knowsConfirmed ? () => undefined : refuseConfirmed;
  const dispatcher = new Dispatcher({
    checkParams,
    methods: {
      ...accountMethods(ledger),
      ...transactionMethods(ledger),
      ...faucetMethods(ledger),
      ...historyMethods(ledger),
      ...blockMethods(ledger),
      ...clusterMethods(ledger),
      ...(config.testHooks ? testHookMethods(ledger) : {}),
    },
    settled,
    onInternalError: (method, error) =>
      report.onLog('error', 'RPC method failed', { method, error: stackOf(error) }),
  });
  const subscriptions = new Subscriptions(ledger);
  ledger.listen(subscriptions);
  const websockets = new WebsocketServer({
    subscriptions,
    checkParams,
    settled,
    onInternalError: (error) => report.onLog('error', 'websocket failed', { error: stackOf(error) }),
  });

  const rpcServer = createServer(rpcRequestListener(dispatcher));
  const wsServer = createServer((_, response) => {
    response.writeHead(426, { upgrade: 'websocket', 'content-length': 0 }).end();
  });
  for (const server of [rpcServer, wsServer]) {
    limitServer(server);
    websockets.attach(server);
  }
  const rpcPort = await listenOnPortPair(config.host, config.rpcPort, rpcServer, wsServer);
  lock.announce(rpcPort);
  const ticker = setInterval(() => ledger.now(), config.slotTimeMs);

  return {
    rpcPort,
    close: async () => {
      clearInterval(ticker);
      websockets.close();
      await Promise.all([closeServer(rpcServer), closeServer(wsServer)]);
      await ledger.close();
      await lock.release();
    },
  };
}

/** ELF-64, `e_flags`: the version of sBPF. */
const ELF_FLAGS_OFFSET = 48;

function readPrograms({ programs, requiresSbpfV3 }: ChainConfig): DeployedProgram[] {
  return programs.map(({ programId, soPath, upgradeAuthority }) => {
    let elf: Buffer;
    try {
      elf = readFileSync(soPath);
    } catch (error) {
      throw new LocalChainError('program_unusable', `cannot read program ${programId}: ${String(error)}`);
    }
    const isV3 = elf.length >= ELF_FLAGS_OFFSET + 4 && elf.readUInt32LE(ELF_FLAGS_OFFSET) === 3;
    if (requiresSbpfV3 && !isV3) {
      throw new LocalChainError('program_unusable', `program ${programId} is not sBPF v3 (SIMD-0500)`);
    }
    return { programId: bs58.decode(programId), elf, upgradeAuthority: bs58.decode(upgradeAuthority) };
  });
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
