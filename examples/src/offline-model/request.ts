/** The fields of a chat completion request that the offline model uses. */
export interface ChatRequest {
  messages: ChatMessage[];
  /** Names of the functions that may be called; empty when `tool_choice` is `none`. */
  tools: string[];
  choices: number;
  stream: boolean;
  includeUsage: boolean;
}

export interface ChatMessage {
  role: string;
  /** Text parts joined; everything else left out. */
  text: string;
}

/** An error in the shape of the OpenAI API. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: number;
  readonly code: string;
  readonly param: string | null;

  constructor(status: number, code: string, message: string, param: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }

  /** The body of the error response. */
  get body(): object {
    const type = this.status === 401 ? 'authentication_error' : 'invalid_request_error';
    return { error: { message: this.message, type, param: this.param, code: this.code } };
  }
}

const MOST_CHOICES = 16;
const ROLES = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

type Fields = Record<string, unknown>;

/**
 * Reads the body of `POST /v1/chat/completions`.
 *
 * @throws RequestError naming the parameter that is wrong.
 */
export function parseChatRequest(body: string, modelId: string): ChatRequest {
  const request = fieldsOf(parseJson(body), null, 'The body must be a JSON object.');
  const {
    model,
    messages,
    n = 1,
    stream = false,
    stream_options: streamOptions,
  } = request as Fields & {
    model?: unknown;
    messages?: unknown;
    n?: unknown;
    stream?: unknown;
    stream_options?: unknown;
  };
  if (typeof model !== 'string') throw invalid('model', 'must be a string');
  if (model !== modelId) {
    const message = `The model "${model.slice(0, 100)}" does not exist here; the only one is "${modelId}".`;
    throw new RequestError(404, 'model_not_found', message, 'model');
  }
  if (!Array.isArray(messages) || messages.length === 0)
    throw invalid('messages', 'must be a non-empty array');
  if (typeof n !== 'number' || !Number.isInteger(n) || n < 1 || n > MOST_CHOICES) {
    throw invalid('n', `must be an integer from 1 to ${MOST_CHOICES}`);
  }
  if (typeof stream !== 'boolean') throw invalid('stream', 'must be a boolean');
  const options = streamOptions == null ? {} : fieldsOf(streamOptions, 'stream_options');
  return {
    messages: messages.map((message: unknown, index) => parseMessage(message, `messages[${index}]`)),
    tools: parseTools(request),
    choices: n,
    stream,
    includeUsage: options['include_usage'] === true,
  };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new RequestError(400, 'invalid_json', 'The body is not valid JSON.');
  }
}

function parseMessage(value: unknown, at: string): ChatMessage {
  const { role, content } = fieldsOf(value, at) as { role?: unknown; content?: unknown };
  if (typeof role !== 'string' || !ROLES.has(role)) {
    throw invalid(`${at}.role`, `must be one of ${[...ROLES].join(', ')}`);
  }
  if (typeof content === 'string') return { role, text: content };
  // An assistant's message that only calls tools has no content.
  if (content == null && role === 'assistant') return { role, text: '' };
  if (!Array.isArray(content)) throw invalid(`${at}.content`, 'must be a string or an array of parts');
  const texts = content.map((part: unknown, index) => {
    const { type, text } = fieldsOf(part, `${at}.content[${index}]`) as { type?: unknown; text?: unknown };
    return type === 'text' && typeof text === 'string' ? text : '';
  });
  return { role, text: texts.join('') };
}

function parseTools(request: Fields): string[] {
  const { tools = [], tool_choice: choice } = request as { tools?: unknown; tool_choice?: unknown };
  if (!Array.isArray(tools)) throw invalid('tools', 'must be an array');
  const names = tools.map((tool: unknown, index) => {
    const definition = fieldsOf(fieldsOf(tool, `tools[${index}]`)['function'], `tools[${index}].function`);
    const { name } = definition as { name?: unknown };
    if (typeof name !== 'string') throw invalid(`tools[${index}].function.name`, 'must be a string');
    return name;
  });
  return choice === 'none' ? [] : names;
}

function fieldsOf(value: unknown, at: string | null, message?: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw message === undefined
    ? invalid(at ?? 'body', 'must be an object')
    : new RequestError(400, 'invalid_type', message, at);
}

function invalid(param: string, rule: string): RequestError {
  return new RequestError(400, 'invalid_value', `"${param}" ${rule}.`, param);
}
