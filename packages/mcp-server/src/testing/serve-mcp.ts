import { createClient } from '@agent-rental/sdk';
import { clientOptions, type StandIn } from '@agent-rental/stand-in';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRentalMcpHandler, type RentalMcpHandlerOptions } from '../http/http-handler.js';

/** The handler on a free port, over a stand-in marketplace. */
interface ServedMcp {
  readonly url: URL;
  /** Closes only the handler, not its server. */
  closeHandler(graceMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Mounts the handler like a server, which identifies the caller by its bearer token. */
export async function serveMcp(standIn: StandIn, options: RentalMcpHandlerOptions = {}): Promise<ServedMcp> {
  const handler = createRentalMcpHandler(options);
  const client = createClient(clientOptions(standIn));
  const server = createServer((incoming, outgoing) => {
    const id = incoming.headers.authorization ?? 'wallet';
    handler.handle(incoming, outgoing, { client, id }).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    closeHandler: (graceMs) => handler.close(graceMs),
    close: async () => {
      await handler.close();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
