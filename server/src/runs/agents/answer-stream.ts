import { SPOKEN_CHARACTERS, SPOKEN_SEPARATOR } from '@agent-rental/agent-runner';

/** The text of one turn of the model, as it comes. */
export interface AnswerTurn {
  push(text: string): void;
  /** The turn is over. Text beside tool calls is no answer unless it was long enough to have left already. */
  end(turn: { callsTools: boolean }): void;
}

/**
 * Lets an answer in free text out while it is being written. What leaves here is, letter by letter, the answer that
 * the runner makes of the same turns: without the space around each, and without words in passing.
 */
export class AnswerStream {
  readonly #out: (text: string) => void;
  #sent = '';

  constructor(out: (text: string) => void) {
    this.#out = out;
  }

  /** A turn that may call tools holds back the beginning of its text; one that may not is the answer at once. */
  turn({ mayCallTools }: { mayCallTools: boolean }): AnswerTurn {
    const least = mayCallTools ? SPOKEN_CHARACTERS : 0;
    let held = '';
    let begun = false;
    return {
      push: (text) => {
        held += text;
        if (!begun) {
          held = held.trimStart();
          if (held.trimEnd().length <= least) return;
          begun = true;
          this.#send(this.#sent === '' ? '' : SPOKEN_SEPARATOR);
        }
        // Space at the end may turn out to be the end of all.
        const solid = held.trimEnd();
        this.#send(solid);
        held = held.slice(solid.length);
      },
      end: ({ callsTools }) => {
        if (begun || callsTools || held.trim() === '') return;
        this.#send(`${this.#sent === '' ? '' : SPOKEN_SEPARATOR}${held.trim()}`);
      },
    };
  }

  /** Lets out what an answer holds beyond what has left: the value of a program, for instance. */
  finish(answer: string): void {
    if (answer.startsWith(this.#sent)) this.#send(answer.slice(this.#sent.length));
  }

  #send(text: string): void {
    if (text === '') return;
    this.#sent += text;
    this.#out(text);
  }
}
