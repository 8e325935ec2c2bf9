import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy on a port that stays, whose connections break. */
export interface CuttingProxy {
  readonly origin: string;
  /** Connections that it broke. */
  readonly cuts: number;
  /** Where new connections lead. */
  target: string;
  close(): Promise<void>;
}

/** Starts a proxy that breaks each connection after 1,000 to 2,500 bytes of its answers: after a few events. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(Number(new URL(proxy.target).port), '127.0.0.1');
    let leftBytes = 1000 + Math.floor(Math.random() * 1500);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.on('data', (piece: Buffer) => {
      if (leftBytes <= 0) return;
      leftBytes -= piece.length;
      if (leftBytes > 0) {
        near.write(piece);
        return;
      }
      cuts += 1;
      near.write(piece.subarray(0, piece.length + leftBytes), () => near.destroy());
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: CuttingProxy = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts;
    },
    target,
    close: async () => {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
  return proxy;
}
