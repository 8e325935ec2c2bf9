import type { Health } from '@agent-rental/contract';
import { readdir } from 'node:fs/promises';
import { createClient, type RentalClient } from '@agent-rental/sdk';
import { rent } from '@agent-rental/sdk/solana';
import { sellAgent } from '@agent-rental/test/support/agents/market-agents';
import { inspect, type Inspector } from '@agent-rental/test/support/processes/inspector';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
  withoutExamples,
} from '@agent-rental/test/support/marketplace';
import {
  descendants,
  stillRunning,
  type ProcessIdentity,
} from '@agent-rental/test/support/processes/processes';
import { newParticipant, type Participant } from '@agent-rental/test/support/participant';
import { until } from '@agent-rental/test/support/timing/until';
import { probeLoop } from './loop-probe.js';

/** The timeout of an agent. Busy loops use all of it. */
const RUN_TIMEOUT_SECONDS = 8;
const PRICE_LAMPORTS = 250_000;
const PROCESSES_END_MS = 10_000;
const MEGABYTE = 1024 * 1024;

export interface Held {
  heapMb: number;
  descriptors: number;
}

/** A marketplace on one state folder, whose server starts several times. */
export class SoakMarket {
  readonly #stateDir: string;
  readonly #modelUrl: string;
  /** Every process of a server at its end. */
  readonly #processes: ProcessIdentity[] = [];
  #isRunning = false;
  /** Of the last server. */
  declare server: OwnMarketplace;
  declare inspector: Inspector;
  /** The one wallet that sells and rents. */
  declare owner: Participant;

  private constructor(stateDir: string, modelUrl: string) {
    this.#stateDir = stateDir;
    this.#modelUrl = modelUrl;
  }

  static async open(modelUrl: string): Promise<SoakMarket> {
    const market = new SoakMarket(await newStateDir(), modelUrl);
    await market.start();
    market.owner = await newParticipant(market.server);
    return market;
  }

  client(): RentalClient {
    return createClient({ baseUrl: this.server.dev.base_url, signer: this.owner.signer, retries: 0 });
  }

  async start(): Promise<void> {
    const model = withoutExamples(this.#modelUrl);
    const env = { ...model, NODE_OPTIONS: '--inspect=127.0.0.1:0' };
    this.server = await startMarketplace(this.#stateDir, env);
    this.#isRunning = true;
    this.inspector = await inspect(this.server.output, this.server.process);
    await probeLoop(this.inspector);
  }

  /** Ends the server by a crash or by a normal stop. */
  async end(how: 'kill' | 'stop'): Promise<void> {
    this.#processes.push(...(await descendants(this.server.process.pid ?? 0)));
    this.inspector.close();
    await (how === 'kill' ? this.server.kill() : this.server.stop());
    this.#isRunning = false;
  }

  /** Commands of processes that still run after the end of their server. */
  async processesLeft(): Promise<string[]> {
    let left: ProcessIdentity[] = [];
    const areGone = async () => (left = await stillRunning(this.#processes)).length === 0;
    await until(areGone, PROCESSES_END_MS, 200).catch(() => undefined);
    return left.map(({ command }) => command.slice(0, 200));
  }

  /** Publishes and rents an agent that runs its model's code. @returns the listing's id. */
  async sell(name: string, languages: readonly string[]): Promise<string> {
    const owner = { ...this.owner, client: this.client() };
    const { id } = await sellAgent(owner, 'declarative', this.#modelUrl, {
      name,
      tools: languages.map((language) => ({ name: `run_${language}`, scope: 'input_only' })),
      timeout_seconds: RUN_TIMEOUT_SECONDS,
      listing: { rental_model: 'one_time', price_lamports: PRICE_LAMPORTS },
    });
    await rent(owner.client, owner.signer, id, { max_price_lamports: PRICE_LAMPORTS });
    return id;
  }

  /** The server's sandbox status in `/health`. */
  async sandbox(): Promise<Health['sandbox']> {
    const health = (await (await fetch(`${this.server.dev.base_url}/health`)).json()) as Health;
    return health.sandbox;
  }

  /** The server's resources after a garbage collection. */
  async held(): Promise<Held> {
    const { heapUsed, external } = await this.inspector.heapAfterCollection();
    return {
      heapMb: Math.round((heapUsed + external) / MEGABYTE),
      descriptors: (await readdir(`/proc/${this.server.process.pid}/fd`)).length,
    };
  }

  async close(): Promise<void> {
    if (this.#isRunning) await this.end('stop');
    await removeStateDir(this.#stateDir);
  }
}
