import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MARKETPLACE_IDL } from '@agent-rental/program-client';
import type { Account, Address, Instruction, Rpc, SolanaRpcApi, TransactionSigner } from '@solana/kit';
import { build } from 'esbuild';

/** The functions of the generated client that the tests call. Generated code knows the IDL; these lines do not. */
export interface CodamaClient {
  getPurchaseOneTimeInstructionAsync(input: {
    buyer: TransactionSigner;
    listing: Address;
    treasury: Address;
    maxPriceLamports: bigint;
  }): Promise<Instruction>;
  getPurchasePerQueryInstructionAsync(input: {
    buyer: TransactionSigner;
    listing: Address;
    depositLamports: bigint;
    maxPriceLamports: bigint;
  }): Promise<Instruction>;
  getVerifyAccessInstructionAsync(input: { buyer: Address; listingId: string }): Promise<Instruction>;
  findListingPda(seeds: { listingId: string }): Promise<readonly [Address, number]>;
  findAccessCredentialPda(seeds: { buyer: Address; listing: Address }): Promise<readonly [Address, number]>;
  findPerQueryBalancePda(seeds: { buyer: Address; listing: Address }): Promise<readonly [Address, number]>;
  fetchProtocol(
    rpc: Rpc<SolanaRpcApi>,
    address: Address,
  ): Promise<Account<{ treasury: Address; feeBps: number }>>;
  fetchListing(
    rpc: Rpc<SolanaRpcApi>,
    address: Address,
  ): Promise<Account<{ listingId: string; priceLamports: bigint; rentalModel: number; creator: Address }>>;
  fetchAccessCredential(
    rpc: Rpc<SolanaRpcApi>,
    address: Address,
  ): Promise<Account<{ buyer: Address; listing: Address; valid: boolean; rentalModel: number }>>;
  fetchPerQueryBalance(
    rpc: Rpc<SolanaRpcApi>,
    address: Address,
  ): Promise<Account<{ balanceLamports: bigint; maxPriceLamports: bigint }>>;
  findProtocolPda(): Promise<readonly [Address, number]>;
  isMarketplaceError(
    error: unknown,
    message: { instructions: Record<number, { programAddress: Address }> },
    code?: number,
  ): boolean;
  getMarketplaceErrorMessage(code: number): string;
  readonly MARKETPLACE_ERROR__PRICE_ABOVE_LIMIT: number;
  readonly RentalModel: Record<'OneTime' | 'Subscription' | 'PerQuery', number>;
}

interface CodamaNode {
  kind?: string;
}

type Visitor = (node: unknown) => unknown;

interface Codama {
  visit(root: CodamaNode, visitor: Visitor): Promise<void>;
}
interface NodesFromAnchor {
  rootNodeFromAnchor(idl: unknown): CodamaNode;
}
interface RenderersJs {
  renderVisitor(folder: string, options: { formatCode: boolean; syncPackageJson: boolean }): Visitor;
}

const require = createRequire(import.meta.url);

/** Generates a kit client from the IDL as its user would, compiles and loads it. Leaves no file behind. */
export async function generateCodamaClient(): Promise<CodamaClient> {
  const folder = await mkdtemp(join(tmpdir(), 'codama-client-'));
  try {
    const { renderVisitor } = require('@codama/renderers-js') as RenderersJs;
    const { visit } = require('codama') as Codama;
    const { rootNodeFromAnchor } = require('@codama/nodes-from-anchor') as NodesFromAnchor;
    const root = rootNodeFromAnchor(MARKETPLACE_IDL);
    await visit(root, renderVisitor(folder, { formatCode: false, syncPackageJson: false }));
    // The client imports kit, which is to be the tests' own.
    await symlink(nodeModulesOf('@solana/kit'), join(folder, 'node_modules'), 'dir');
    const outfile = join(folder, 'client.mjs');
    await build({
      entryPoints: [join(folder, 'src/generated/index.ts')],
      outfile,
      bundle: true,
      packages: 'external',
      format: 'esm',
      platform: 'node',
      logLevel: 'silent',
    });
    return (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as CodamaClient;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The `node_modules` folder in which a package is found from here. */
function nodeModulesOf(name: string): string {
  const entry = fileURLToPath(pathToFileURL(require.resolve(name)));
  const folder = entry.slice(0, entry.lastIndexOf(join('node_modules', name)));
  return join(dirname(join(folder, 'x')), 'node_modules');
}
