import type { IsolationLevel, LocalDriverChoice } from '@agent-rental/sandbox';
import type { TracingOptions } from '../platform/tracing/export.js';
import type { Environment } from './environment.js';

/** The server's configuration, checked and frozen. */
export interface Config {
  readonly production: boolean;
  readonly host: string;
  readonly port: number;
  /** Absent: the API is reached on this machine alone. */
  readonly publicUrl: string | undefined;
  /** Proxies whose `X-Forwarded-For` is trusted; empty: none. */
  readonly trustedProxies: readonly string[];
  readonly localChainPort: number;
  readonly localChainConsensus: Environment['LOCAL_CHAIN_CONSENSUS'];
  /** Absent: as its consensus has it. */
  readonly localChainSlotMs: number | undefined;
  readonly stateDir: string;
  readonly logLevel: Environment['LOG_LEVEL'];
  /** Absent: the embedded PostgreSQL. */
  readonly databaseUrl: string | undefined;
  /** Absent: limits are kept in memory, for one replica. */
  readonly redisUrl: string | undefined;
  readonly replicas: number;
  /** Absent: the local chain. */
  readonly solanaRpcUrls: readonly string[] | undefined;
  readonly network: 'localnet' | 'devnet' | 'mainnet';
  readonly programId: string | undefined;
  readonly authorityKeypair: string | undefined;
  /** The file of the key that takes over. */
  readonly nextAuthorityKeypair: string | undefined;
  /** Signs in place of the keypairs. */
  readonly authoritySigner: AuthoritySignerConfig | undefined;
  readonly masterKey: Uint8Array | undefined;
  readonly sealingKeys: SealingKeysConfig;
  /** The most that one transaction pays beyond the base fee. */
  readonly maxPriorityFeeLamports: bigint;
  /** The authority's reserve for the charges in flight; new Per-Task runs are refused below it. */
  readonly authorityReserveLamports: bigint;
  /** The most that charges of one wallet add up to that are not final yet and whose output has left. */
  readonly unfinalizedCapLamports: bigint;
  /** Absent: calls are paid for in SOL alone. */
  readonly usdc: UsdcConfig | undefined;
  readonly requestsPerMinute: number;
  readonly executionsPerMinute: number;
  /** How long a wallet without a rental must have held its SOL for a free first run. */
  readonly trialHoldSeconds: number;
  /** The queue of runs that wait for a slot of their listing. */
  readonly queue: { readonly maxLength: number; readonly maxWaitMs: number };
  /** How long a run goes on for a caller that has gone away and may come back. */
  readonly reconnectGraceMs: number;
  readonly sandbox: {
    readonly poolSize: number;
    readonly maxActive: number;
    /** Of this machine; `auto`: bubblewrap where it works, else Deno alone, which is announced. */
    readonly driver: LocalDriverChoice;
    readonly minIsolation: IsolationLevel;
    /** The lowest that may be asked for: beside production parts, on a real network, `runtime` is not enough. */
    readonly leastIsolation: 'runtime' | 'kernel';
    /** Set: E2B's sandboxes in place of this machine's. */
    readonly e2b: E2bConfig | undefined;
  };
  /** How long an MCP call waits for its run. */
  readonly mcpWaitMs: number;
  /** Host names under which MCP may be addressed; absent: any. */
  readonly mcpAllowedHosts: readonly string[] | undefined;
  /** Absent: the metrics can be read from this machine, and with production parts not at all. */
  readonly metricsToken: string | undefined;
  /** Wallets that use the operator's console; empty: there is no console. */
  readonly operatorWallets: ReadonlySet<string>;
  /** Where traces go; absent where they are not recorded. */
  readonly tracing: TracingOptions | undefined;
  /** The longest that a stop waits for running runs, before it hands them over. */
  readonly diskReserveBytes: number;
  readonly drainTimeoutMs: number;
  /** Origins on this machine that creators' agents and models may be called at. Absent: beside production parts, none may. */
  readonly allowedLoopback: readonly string[] | undefined;
  readonly storage: StorageConfig;
  /** Absent: the service sends no e-mail. */
  readonly smtp: SmtpConfig | undefined;
  /** Who approves the first version of a listing. */
  readonly review: 'automatic' | 'operator';
  readonly examples: boolean;
  /** Sentences about variables that are set and have no effect. */
  readonly unused: readonly string[];
  /** Model settings that are handed to the examples, which play a creator. */
  readonly exampleModel: Readonly<Record<string, string>>;
}

/** Payments in USDC. Prices are USDC for 1 SOL, as text. */
export interface UsdcConfig {
  readonly rate:
    | { readonly fixed: string }
    | {
        readonly url: string;
        readonly path: readonly string[];
        readonly least: string;
        readonly most: string;
        readonly maximalAgeMs: number;
      };
  /** The most that the till gives for USDC within 24 hours. */
  readonly floatLamports: bigint;
}

/** An external signer of the authority's transactions. */
export interface AuthoritySignerConfig {
  readonly url: string;
  readonly publicKey: string;
  readonly nextPublicKey: string | undefined;
  /** The bearer token, or the file that holds it. */
  readonly token: { readonly value: string } | { readonly file: string };
}

/** The mail server, and the sender of messages to people. */
export interface SmtpConfig {
  /** With its password. */
  readonly url: string;
  readonly from: string;
}

/** Where public content is read and written, beside the server's own store. */
export interface StorageConfig {
  /** Empty: `ipfs://` reads only content that the server stored. */
  readonly ipfsGateways: readonly string[];
  /** Empty: `ar://` is not read. */
  readonly arweaveGateways: readonly string[];
  /** Whether documents are blocks of the server's own, with an IPFS address. */
  readonly keepsBlocks: boolean;
  /** The bundler that brings documents to Arweave, and the key file of the wallet that signs them. */
  readonly arweave: { readonly bundlerUrl: string; readonly keyFile: string } | undefined;
  /** The IPFS node that stores documents, too. */
  readonly ipfsNode: { readonly url: string; readonly token: string | undefined } | undefined;
}

/** The account of E2B that agents run on, and its limits. */
export interface E2bConfig {
  readonly apiKey: string;
  readonly template: string | undefined;
  readonly domain: string | undefined;
  readonly apiUrl: string | undefined;
  readonly sandboxUrl: string | undefined;
  readonly maxSandboxes: number;
  readonly createsPerSecond: number;
}

/** The keys of stored data. */
export interface SealingKeysConfig {
  /** Absent: the master key's. */
  readonly present: Uint8Array | undefined;
  readonly others: readonly Uint8Array[];
}
