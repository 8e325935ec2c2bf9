import type { SandboxDriver } from '@agent-rental/sandbox';
import type { Chain, ProgramHistory, RotatingSigner, TestFunds } from '../chain/index.js';
import type { Config } from '../config/index.js';
import type { OpenDatabase } from '../database/connection.js';
import type { Keys } from '../platform/keys.js';
import type { DiskSpace } from '../platform/disk-space.js';
import type { Logger } from '../platform/logger.js';

/** The parts that `createApp` composes into the server. The embedded default and production bring different ones. */
export interface AppParts {
  config: Config;
  logger: Logger;
  database: OpenDatabase;
  chain: Chain;
  /** A public RPC endpoint of that chain; the server's own endpoints may hold keys. */
  publicRpcUrl: string | undefined;
  history: ProgramHistory;
  /** Signs with the hot key. */
  authority: RotatingSigner;
  keys: Keys;
  driver: SandboxDriver;
  /** Folder of public content. With DATABASE_URL it is only read, for the files of an earlier release. */
  contentFolder: string;
  /** Allowed origins on loopback: the embedded default's own examples. */
  allowedOrigins: ReadonlySet<string>;
  /** True when no other server shares the database. Then the runs of an earlier process are certainly dead. */
  alone: boolean;
  /** Watches the disk of the state folder, where database and chain are on it. */
  diskSpace: DiskSpace | undefined;
  /** Gives out test money: the embedded default's own chain does. */
  testFunds?: TestFunds;
  /** How often the chain is asked for news. */
  indexPollMs: number;
}
