import type { Step, Turn } from './turns.js';

/** A request of a client. A tool's name is in one of two places. */
export interface ModelRequest {
  readonly stream?: boolean;
  readonly tools?: readonly { name?: string; function?: { name: string } }[];
}

/** A vendor's API: reads the steps from a request, and writes the model's next turn. */
export interface Protocol<Request extends ModelRequest = ModelRequest> {
  stepsOf(request: Request): Step[];
  /** @param name the client's name of the tool that the turn calls. */
  answer(turn: Turn, name: string): object;
  /** The same as server-sent events. Absent where no client under test asks for them. */
  stream?(turn: Turn, name: string): string;
}

/** A value as the text that a model would read. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
