import type { JsonObject } from '@agent-rental/contract';
import type { Caller } from './rented-marketplace.js';

/** Builds the tools of a caller's rentals, and gives what a model or a client is told of them. */
export type List = (caller: Caller, rentals: number) => Promise<JsonObject[]>;

/** A framework with our adapter and as it comes. */
export interface Framework {
  readonly name: string;
  /** Whether this process builds the tools, anew for each list. A server keeps them for a minute. */
  readonly isBuiltHere: boolean;
  readonly ours: List;
  readonly floor: List;
  /** CPU time of the processes that build them; absent: this process alone. The marketplace is not in it. */
  cpuMs?(side: 'ours' | 'floor'): Promise<number>;
}

/** A tool as the bare frameworks are given it. */
export interface GivenTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}
