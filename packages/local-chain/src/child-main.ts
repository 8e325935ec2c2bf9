/**
 * The chain's own process. It lives exactly as long as the channel to its supervisor: when that closes, because the
 * supervisor ended in whatever way, the process ends at once. It needs no goodbye: the journal is always complete.
 */
import type { ChainNode } from './chain-node.js';
import { toChildSchema, type FromChild } from './child-messages.js';
import { LocalChainError } from './errors.js';
import type { ChainConfig } from './options.js';

const FATAL_EXIT_CODE = 1;

let node: ChainNode | null = null;

/** Loaded apart from this module: it needs a native build, which npm may not have for the machine, and that is to be said. */
const loading = import('./chain-node.js').catch((cause: unknown) => {
  const { platform, arch } = process;
  const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  throw new LocalChainError(
    'start_failed',
    `the local chain cannot be loaded on ${platform}, ${arch} (${reason}). Where LiteSVM, which runs it, has no build that npm ci ` +
      'installs, "npm install --no-package-lock" installs what its maker publishes; with SOLANA_RPC_URLS and the other production ' +
      'parts the server does without.',
    { cause },
  );
});
// Told when the start is asked for.
loading.catch(() => undefined);

process.on('disconnect', () => process.exit(0));
// Ctrl-C and a terminal's hang-up reach the whole process group: the supervisor decides when the chain stops, because a
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
  // The supervisor may go at any moment: `disconnect` ends this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
