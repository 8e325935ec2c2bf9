import type {
  Evaluation,
  HostMethod,
  HostMethods,
  JsonValue,
  ModelCompleteParams,
  ModelCompleteResult,
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

/** A host whose model says what the script says, in order. */
export class ScriptedHost implements Host {
  readonly modelCalls: ModelCompleteParams[] = [];
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
        this.modelCalls.push(structuredClone(asked));
        const reply = this.#replies.shift() ?? new HostRefusal('the script is over');
        if (reply instanceof HostRefusal) throw reply;
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

  /** The last thing the model was told. */
  lastMessage(): string {
    return this.modelCalls.at(-1)?.messages.at(-1)?.content ?? '';
  }
}
