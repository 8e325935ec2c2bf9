import type { Connection } from '@solana/web3.js';

/** Closes the websocket that web3.js opened, which it would otherwise dial again when the chain is gone. */
export function closeWebsocket(connection: Connection): void {
  // Not in its types: web3.js closes it by itself, but only some time after the last subscription ended.
  (Reflect.get(connection, '_rpcWebSocket') as { close(): void }).close();
}
