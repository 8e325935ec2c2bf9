import type { JsonObject } from '@agent-rental/contract';
import type { Caller } from './rented-marketplace.js';

/** A way to a caller's tools: ours, or a framework as it is. */
export interface Leg {
  /** Builds the tools of everything that the caller has rented, and gives what a model or a client is told of them. */
  list(caller: Caller, rentals: number): Promise<JsonObject[]>;
  /** CPU time so far of the processes that do it, the marketplace's apart. */
  cpuMs(): Promise<number>;
}

/** Both ways of a framework. */
export interface Framework {
  readonly name: string;
  /** In this process, anew for each list; a server keeps for a minute what it has built. */
  readonly isBuiltHere: boolean;
  readonly ours: Leg;
  readonly floor: Leg;
}

/** A tool as it is given to the bare frameworks. */
export interface GivenTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** CPU time of this process. */
export async function ownCpuMs(): Promise<number> {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
