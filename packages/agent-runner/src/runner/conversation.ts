import {
  type AddedMessage,
  MAX_SAID_CHARACTERS,
  type ModelCompleteResult,
  type ToolChoice,
} from '../protocol.js';
import type { Host } from './host.js';

/** Most characters of a conversation. Every model call sends all of it again. */
const MAX_CHARACTERS = 2_000_000;

/** The conversation with the model. The host keeps the messages; the runner holds the unsent ones and counts characters. */
export class Conversation {
  readonly #host: Host;
  #unsent: AddedMessage[] = [];
  #characters = 0;

  constructor(host: Host) {
    this.#host = host;
  }

  /** True when the limit is exceeded. */
  get isTooLong(): boolean {
    return this.#characters > MAX_CHARACTERS;
  }

  /** Appends a message; it is sent with the next request. */
  add(message: AddedMessage): void {
    this.#unsent.push(message);
    this.#characters += message.content.length;
  }

  /** Asks the model. @throws HostRefusal */
  async complete(tools: string[], toolChoice: ToolChoice): Promise<ModelCompleteResult> {
    const messages = await this.#sayWhatIsLong();
    const reply = await this.#host.call('model.complete', { messages, tools, toolChoice });
    this.#characters += (reply.content ?? '').length;
    for (const call of reply.toolCalls) this.#characters += call.arguments.length;
    return reply;
  }

  /** Sends messages that do not fit one line as `say` notices. Returns the rest. */
  async #sayWhatIsLong(): Promise<AddedMessage[]> {
    const messages = this.#unsent;
    this.#unsent = [];
    let together: AddedMessage[] = [];
    let characters = 0;
    for (const message of messages) {
      if (characters + message.content.length > MAX_SAID_CHARACTERS && together.length > 0) {
        await this.#host.say({ messages: together });
        together = [];
        characters = 0;
      }
      if (message.content.length > MAX_SAID_CHARACTERS) {
        await this.#sayInParts(message);
        continue;
      }
      together.push(message);
      characters += message.content.length;
    }
    return together;
  }

  async #sayInParts(message: AddedMessage): Promise<void> {
    const [first = '', ...others] = partsOf(message.content);
    await this.#host.say({ messages: [{ ...message, content: first }] });
    for (const text of others) await this.#host.say({ text });
  }
}

/** Splits a text into parts of at most MAX_SAID_CHARACTERS, never within a surrogate pair. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = at + MAX_SAID_CHARACTERS;
    const isSplit = /[\ud800-\udbff]/.test(text.charAt(end - 1));
    const part = text.slice(at, isSplit ? end - 1 : end);
    parts.push(part);
    at += part.length;
  }
  return parts;
}
