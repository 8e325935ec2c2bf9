import {
  type AddedMessage,
  type ChatMessage,
  type ModelCompleteResult,
  ProtocolViolation,
  type SayNotice,
} from '@agent-rental/agent-runner';

const MAX_MESSAGES = 2_000;

/**
 * The conversation between a run and its model, kept on the host. The runner only appends user and tool messages; the
 * host itself appends the replies of the model, so a compromised runner cannot forge them.
 */
export class HostConversation {
  readonly #messages: ChatMessage[] = [];
  readonly #maxCharacters: number;
  #characters = 0;
  #addedBy: 'runner' | 'model' | undefined;

  /** @param maxCharacters limit of its length as JSON, which bounds the time to serialize a model request. */
  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  get isTooLong(): boolean {
    return this.#characters > this.#maxCharacters || this.#messages.length > MAX_MESSAGES;
  }

  /**
   * Appends the content of a `say` notice.
   * @param characters length of its line.
   * @throws ProtocolViolation
   */
  say(params: SayNotice['params'], characters: number): void {
    if ('messages' in params) {
      this.add(params.messages, characters);
      return;
    }
    const last = this.#messages.at(-1);
    if (last === undefined || last.role === 'assistant') {
      throw new ProtocolViolation('continued text without a message of the runner before it');
    }
    this.#characters += characters;
    if (!this.isTooLong) last.content += params.text;
  }

  /**
   * Appends messages of the runner.
   * @param characters length of their line.
   * @throws ProtocolViolation when the conversation does not begin with a user message.
   */
  add(messages: readonly AddedMessage[], characters: number): void {
    this.#characters += characters;
    const [first] = messages;
    if (first === undefined || this.isTooLong) return;
    if (this.#messages.length === 0 && first.role !== 'user') {
      throw new ProtocolViolation('the conversation starts with no user message');
    }
    this.#messages.push(...messages);
    this.#addedBy = 'runner';
  }

  /** All messages, for a model request. @throws ProtocolViolation when there is no new message to answer. */
  whole(): ChatMessage[] {
    if (this.#addedBy !== 'runner') throw new ProtocolViolation('a model request without a new message');
    return [...this.#messages];
  }

  answered({ content, toolCalls }: ModelCompleteResult): void {
    this.#messages.push(
      toolCalls.length > 0
        ? { role: 'assistant', content, toolCalls }
        : { role: 'assistant', content: content ?? '' },
    );
    this.#characters += content?.length ?? 0;
    for (const call of toolCalls) this.#characters += call.arguments.length;
    this.#addedBy = 'model';
  }
}
