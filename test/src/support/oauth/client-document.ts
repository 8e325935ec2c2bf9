import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const REQUEST =
  'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost'.split(
    ' ',
  );

/** A site that publishes the metadata document of a client. */
export interface PublishedClient {
  /** The client's id. */
  readonly url: string;
  /** The certificate that a server has to trust (`NODE_EXTRA_CA_CERTS`) to read it. */
  readonly certificateFile: string;
  /** How often it was asked for. */
  requests(): number;
  close(): Promise<void>;
}

/** Publishes a document under a certificate that openssl makes for this machine. */
export async function serveClientDocument(metadata: object): Promise<PublishedClient> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-rental-certificate-'));
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  await run('openssl', [...REQUEST, '-keyout', keyFile, '-out', certificateFile]);
  let requests = 0;
  const server = createServer(
    { key: await readFile(keyFile), cert: await readFile(certificateFile) },
    (_request, response) => {
      requests += 1;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ client_id: url, token_endpoint_auth_method: 'none', ...metadata }));
    },
  ).listen(0, 'localhost');
  await once(server, 'listening');
  const url = `https://localhost:${(server.address() as AddressInfo).port}/oauth/client.json`;
  return {
    url,
    certificateFile,
    requests: () => requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await rm(folder, { recursive: true });
    },
  };
}
