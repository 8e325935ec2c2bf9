/**
 * The chain's process. It ends at once when the channel to its supervisor closes, for example after a crash of the
 * supervisor. It needs no shutdown message: the journal is always complete.
 */
import type { ChainNode } from './chain-node.js';
import { toChildSchema, type FromChild } from './child-messages.js';
import { LocalChainError } from './errors.js';
import type { ChainConfig } from './options.js';

const FATAL_EXIT_CODE = 1;

let node: ChainNode | null = null;

/** Loaded dynamically: the native build may be missing on this machine, and then the start fails with a clear error. */
const loading = import('./chain-node.js').catch((cause: unknown) => {
  const { platform, arch } = process;
  const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  throw new LocalChainError(
    'start_failed',
    `the local chain cannot be loaded on ${platform}, ${arch} (${reason}). npm ci may find no build of LiteSVM, its runtime. ` +
      'Then run "npm install --no-package-lock", which installs the published build. With SOLANA_RPC_URLS and the other ' +
      'production parts the server needs no local chain.',
    { cause },
  );
});
// A failure is reported when the start message arrives.
loading.catch(() => undefined);

process.on('disconnect', () => process.exit(0));
// Ctrl-C and a terminal's hang-up reach the whole process group. The supervisor decides when the chain stops, because a
// server that drains still needs it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

process.on('message', (received) => {
  const message = toChildSchema.parse(received);
  if (message.type === 'stop') {
    void stop();
    return;
  }
  start(message.config).catch(fail);
});

async function start(config: ChainConfig): Promise<void> {
  const { startChainNode } = await loading;
  node = await startChainNode(config, {
    onLog: (level, msg, details) => tell({ type: 'log', entry: { ...details, level, msg } }),
    onFatal: fail,
  });
  tell({ type: 'ready', rpcPort: node.rpcPort });
}

async function stop(): Promise<void> {
  await node?.close();
  process.exit(0);
}

function fail(cause: unknown): void {
  const code = cause instanceof LocalChainError ? cause.code : 'start_failed';
  const message = cause instanceof Error ? cause.message : String(cause);
  if (process.send === undefined || !process.connected) process.exit(FATAL_EXIT_CODE);
  const fatal: FromChild = { type: 'fatal', code, message };
  process.send(fatal, undefined, undefined, () => process.exit(FATAL_EXIT_CODE));
}

function tell(message: FromChild): void {
  // The supervisor may end at any moment: `disconnect` ends this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
