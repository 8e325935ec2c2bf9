import { SPOKEN_CHARACTERS, SPOKEN_SEPARATOR } from '@agent-rental/agent-runner';

/** The text of one turn of the model, as it comes. */
export interface AnswerTurn {
  push(text: string): void;
  /** Ends the turn. Text beside tool calls is dropped as no answer, unless it was long enough to be sent already. */
  end(turn: { callsTools: boolean }): void;
}

/**
 * Streams an answer in free text while the model writes it. The streamed text equals the answer of the runner for the same
 * turns. Each turn is trimmed, and short text beside tool calls is left out.
 */
export class AnswerStream {
  readonly #out: (text: string) => void;
  #sent = '';

  constructor(out: (text: string) => void) {
    this.#out = out;
  }

  /** A turn that may call tools holds back the beginning of its text; the text of any other turn is streamed at once. */
  turn({ mayCallTools }: { mayCallTools: boolean }): AnswerTurn {
    const least = mayCallTools ? SPOKEN_CHARACTERS : 0;
    let held = '';
    let started = false;
    return {
      push: (text) => {
        held += text;
        if (!started) {
          held = held.trimStart();
          if (held.trimEnd().length <= least) return;
          started = true;
          this.#send(this.#sent === '' ? '' : SPOKEN_SEPARATOR);
        }
        // Trailing space is held back: it is trimmed if nothing follows it.
        const solid = held.trimEnd();
        this.#send(solid);
        held = held.slice(solid.length);
      },
      end: ({ callsTools }) => {
        if (started || callsTools || held.trim() === '') return;
        this.#send(`${this.#sent === '' ? '' : SPOKEN_SEPARATOR}${held.trim()}`);
      },
    };
  }

  /** Streams the rest of the final answer, such as the value of a program, that was not streamed yet. */
  finish(answer: string): void {
    if (answer.startsWith(this.#sent)) this.#send(answer.slice(this.#sent.length));
  }

  #send(text: string): void {
    if (text === '') return;
    this.#sent += text;
    this.#out(text);
  }
}
