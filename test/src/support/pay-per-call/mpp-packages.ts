import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { npmTool } from '@agent-rental/stand-in/npm-tool';

/** The packages that npm installs beside `@solana/mpp`. */
export const BESIDE_MPP = ['mppx@0.11.0', '@solana/kit@6.10.0', 'viem@2.54.0'];

/** The client's packages of MPP as they are published. */
interface MppClient {
  Mppx: { create(options: object): { fetch: typeof fetch } };
  charge(options: object): object;
  createKeyPairSignerFromBytes(bytes: Uint8Array): Promise<object>;
  McpClient: { wrap<Client extends object>(client: Client, config: { methods: object[] }): Client };
}

/** The verdict of the package's server about a request. */
type Verdict =
  | { status: 402; challenge: Response }
  | { status: 200; withReceipt(response: Response): Response };

/** The server's packages of MPP as they are published. */
interface MppServer {
  Mppx: {
    create(options: object): { charge(terms: object): (request: Request) => Promise<Verdict> };
  };
  charge(options: object): object;
}

const folderOfMpp = () => npmTool('@solana/mpp', '0.6.0', 'package.json', BESIDE_MPP);

/** The folder in which they are installed. @throws Error when npm cannot install them */
export const mppFolder = async () => join(dirname(await folderOfMpp()), '../../..');

/** Loads the stock client: `mppx` with `@solana/mpp`. @throws Error when npm cannot install them */
export const loadMppClient = () =>
  load<MppClient>(['mppx/client', 'mppx/mcp/client', '@solana/mpp/client', '@solana/kit']);

/** Loads the package's own server. @throws Error when npm cannot install it */
export const loadMppServer = () => load<MppServer>(['mppx/server', '@solana/mpp/server']);

async function load<Packages>(names: readonly string[]): Promise<Packages> {
  const { resolve } = createRequire(await folderOfMpp());
  const all = await Promise.all(
    names.map(async (name) => (await import(pathToFileURL(resolve(name)).href)) as object),
  );
  return Object.assign({}, ...all) as Packages;
}
