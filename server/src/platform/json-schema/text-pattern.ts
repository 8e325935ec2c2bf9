import { RE2JS } from 're2js';
import { InvalidSchemaError, NeedsBacktrackingError } from './errors.js';
import { linearExpression } from './linear-expression.js';

/** How regular expressions may be matched: in linear time only, or also by going back, which may take for ever. */
export type Engine = 'linear' | 'any';

/** Memory of a pattern, of one state in RE2, and of one part's machine code. */
const BYTES = { pattern: 4_000, state: 300, part: 2_000 };
/** Memory of all patterns of one schema, in each engine. */
const MOST_BYTES = { linear: 3_000_000, backtracking: 6_000_000 };

/** The patterns of one schema, whose memory is bounded together. */
export class TextPatterns {
  readonly #engine: Engine;
  #linearBytes = 0;
  #backtrackingBytes = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  get bytes(): number {
    return this.#linearBytes + this.#backtrackingBytes;
  }

  /**
   * Makes the pattern of a regular expression of ECMA-262. One that RE2 has, too, is matched in linear time.
   *
   * @throws InvalidSchemaError for a text that is no regular expression, or is too large.
   * @throws NeedsBacktrackingError for one that the engine does not match.
   */
  pattern(source: string): (text: string) => boolean {
    const { text: linear, states, parts } = linearExpression(source);
    const linearBytes = BYTES.pattern + states * BYTES.state;
    const backtrackingBytes = BYTES.pattern + parts * BYTES.part;
    const fitsLinear = linear !== undefined && this.#linearBytes + linearBytes <= MOST_BYTES.linear;
    const named = `has the pattern ${JSON.stringify(source.slice(0, 100))}, which`;
    // Beyond this, the machine code of one schema could fill the space of the whole process.
    const fitsBacktracking = this.#backtrackingBytes + backtrackingBytes <= MOST_BYTES.backtracking;
    const tooLarge = `${named} is too large: it makes the patterns of the schema longer than they may be together`;
    if (!fitsLinear && !fitsBacktracking) throw new InvalidSchemaError(tooLarge);
    const { flags, fault } = readBy(source);
    if (fitsLinear) {
      try {
        const compiled = RE2JS.compile(linear);
        this.#linearBytes += linearBytes;
        return (text) => compiled.matcher(text).find();
      } catch {
        // It has a part that RE2 lacks.
      }
    }
    if (flags === undefined) {
      throw new InvalidSchemaError(`${named} is not a regular expression of ECMA-262: ${fault}`);
    }
    if (!fitsBacktracking) throw new InvalidSchemaError(tooLarge);
    this.#backtrackingBytes += backtrackingBytes;
    if (this.#engine === 'linear') throw new NeedsBacktrackingError();
    const expression = new RegExp(source, flags);
    return (text) => expression.test(text);
  }
}

/** The flags that make a text a regular expression of ECMA-262: with Unicode, else with the old syntax of the web. */
function readBy(source: string): { flags: 'u' | '' | undefined; fault: string } {
  let fault = '';
  for (const flags of ['u', ''] as const) {
    try {
      return { flags: (new RegExp(source, flags), flags), fault };
    } catch (error) {
      fault = (error as Error).message.split(': ').at(-1) ?? '';
    }
  }
  return { flags: undefined, fault };
}
