import { checkJson, JsonTextError } from '@agent-rental/contract';
import { JSON_ENTRIES } from '../platform/json/json-gate.js';

/** An agent used up the limits on its model. The message is for the renter. */
export class ModelLimitError extends Error {
  override readonly name = 'ModelLimitError';
}

const NEWLINE = 0x0a;
/** The parts of a shorter line cost little. */
const CHECKED_BYTES = 32 * 1024;

/** Checks each line of a model's answer by the bounds of JSON, before the vendor's package parses it. */
export class EventBounds {
  #line: Uint8Array[] = [];
  #bytes = 0;

  /** Takes the next bytes. @throws ModelLimitError for a line beyond a bound */
  take(piece: Uint8Array): void {
    let start = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
      this.#add(piece.subarray(start, end));
      this.end();
      start = end + 1;
    }
    this.#add(piece.subarray(start));
  }

  #add(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes > JSON_ENTRIES.model_event.bytes) {
      throw new ModelLimitError(
        `its model sent more than ${JSON_ENTRIES.model_event.bytes} bytes in one event`,
      );
    }
    if (part.length > 0) this.#line.push(part);
  }

  /** Ends a line. @throws ModelLimitError for a line beyond a bound */
  end(): void {
    const line = this.#line;
    const isLong = this.#bytes > CHECKED_BYTES;
    this.#line = [];
    this.#bytes = 0;
    if (!isLong) return;
    try {
      checkJson(Buffer.concat(line).toString('utf8'), JSON_ENTRIES.model_event);
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error;
      throw new ModelLimitError(`an event of its model ${error.message}`);
    }
  }
}
