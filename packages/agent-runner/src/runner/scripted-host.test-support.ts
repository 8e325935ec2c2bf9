import type {
  ChatMessage,
  Evaluation,
  HostMethod,
  HostMethods,
  JsonValue,
  ModelCompleteParams,
  ModelCompleteResult,
  SayNotice,
} from '../protocol.js';
import { type Host, HostRefusal } from './host.js';

export const text = (content: string): ModelCompleteResult => ({
  content,
  toolCalls: [],
  finishReason: 'stop',
});

export const toolCall = (name: string, args: object | string, id = 'call-1'): ModelCompleteResult => ({
  content: null,
  toolCalls: [{ id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }],
  finishReason: 'tool_calls',
});

/** A host whose model gives the replies of a script, in order. */
export class ScriptedHost implements Host {
  /** The requests to the model, each with the whole conversation. */
  readonly modelCalls: ModelCompleteParams[] = [];
  /** Characters of the texts for the model, by line. */
  readonly saidCharacters: number[] = [];
  readonly #conversation: ChatMessage[] = [];
  readonly evaluatedCode: string[] = [];
  readonly languages: string[] = [];
  readonly fetchedUrls: string[] = [];
  readonly checkedOutputs: JsonValue[] = [];
  readonly steps: string[] = [];
  evaluate: (code: string) => Evaluation = () => ({ value: null, stdout: '' });
  violations: (output: JsonValue) => string[] = () => [];
  readonly #replies: (ModelCompleteResult | HostRefusal)[];

  constructor(...replies: (ModelCompleteResult | HostRefusal)[]) {
    this.#replies = replies;
  }

  call<M extends HostMethod>(method: M, params: HostMethods[M]['params']): Promise<HostMethods[M]['result']> {
    const answers: { [K in HostMethod]: (params: HostMethods[K]['params']) => HostMethods[K]['result'] } = {
      'model.complete': (asked) => {
        this.#hear(asked.messages);
        this.modelCalls.push(structuredClone({ ...asked, messages: this.#conversation }));
        const reply = this.#replies.shift() ?? new HostRefusal('the script has no more replies');
        if (reply instanceof HostRefusal) throw reply;
        this.#conversation.push(
          reply.toolCalls.length > 0
            ? { role: 'assistant', content: reply.content, toolCalls: reply.toolCalls }
            : { role: 'assistant', content: reply.content ?? '' },
        );
        return reply;
      },
      'code.evaluate': ({ code, language }) => {
        this.languages.push(language);
        this.evaluatedCode.push(code);
        return this.evaluate(code);
      },
      'web.fetch': ({ url }) => {
        this.fetchedUrls.push(url);
        return { url, status: 200, content_type: 'text/plain', text: 'a page', truncated: false };
      },
      'output.check': ({ output }) => {
        this.checkedOutputs.push(output);
        const errors = this.violations(output);
        return { valid: errors.length === 0, errors };
      },
    };
    return Promise.resolve().then(() => answers[method](params));
  }

  step(name: string): Promise<void> {
    this.steps.push(name);
    return Promise.resolve();
  }

  say(params: SayNotice['params']): Promise<void> {
    if ('messages' in params) {
      this.#hear(params.messages);
    } else {
      const last = this.#conversation.at(-1);
      if (last?.content == null) throw new Error('there is no message to go on with');
      last.content += params.text;
      this.saidCharacters.push(params.text.length);
    }
    return Promise.resolve();
  }

  #hear(messages: readonly ChatMessage[]): void {
    this.#conversation.push(...structuredClone(messages));
    this.saidCharacters.push(messages.reduce((sum, { content }) => sum + (content?.length ?? 0), 0));
  }

  /** The last message to the model. */
  lastMessage(): string {
    return this.modelCalls.at(-1)?.messages.at(-1)?.content ?? '';
  }
}
