import { isJsonObject, parseJsonObject } from './parse-json.js';
import type {
  AddedMessage,
  CodeEvaluateParams,
  DoneMessage,
  JsonObject,
  JsonValue,
  ModelContinueParams,
  ReadyMessage,
  RunnerMessage,
  RunnerRequest,
  SandboxEntry,
  SayNotice,
  StepNotice,
  WebFetchParams,
} from './protocol.js';

/** A line from a sandbox that is not a message of the protocol. The message says which part is wrong. */
export class ProtocolViolation extends Error {
  override readonly name = 'ProtocolViolation';
}

/** Of one line; the host bounds the conversation. */
const MAX_MESSAGES = 2_000;
const MAX_TOOLS = 64;
const MAX_NAME_CHARACTERS = 128;
const MAX_ID_CHARACTERS = 256;
const MAX_URL_CHARACTERS = 2_000;
const MAX_STEP_DETAIL_CHARACTERS = 500;
const MAX_READY_CHARACTERS = 1_000;

function asObject(value: JsonValue | undefined, what: string): JsonObject {
  if (!isJsonObject(value)) throw new ProtocolViolation(`${what} is not an object`);
  return value;
}

function asText(value: JsonValue | undefined, what: string, maxCharacters = Infinity): string {
  if (typeof value !== 'string') throw new ProtocolViolation(`${what} is not a string`);
  if (value.length > maxCharacters) throw new ProtocolViolation(`${what} is too long`);
  return value;
}

function asArray(value: JsonValue | undefined, what: string, maxItems: number): JsonValue[] {
  if (!Array.isArray(value)) throw new ProtocolViolation(`${what} is not an array`);
  if (value.length > maxItems) throw new ProtocolViolation(`${what} has too many items`);
  return value;
}

/** Refuses every key that the protocol does not name, so that no unknown value reaches later code. */
function onlyKeys(object: JsonObject, allowed: readonly string[], what: string): void {
  const extra = Object.keys(object).find((key) => !allowed.includes(key));
  if (extra !== undefined) throw new ProtocolViolation(`${what} has a key it may not have`);
}

/** Text for a model, without lone surrogates: serializing them takes 50 times as long as other characters. */
function asWords(value: JsonValue | undefined, what: string): string {
  return asText(value, what).toWellFormed();
}

function parseAddedMessage(value: JsonValue): AddedMessage {
  const message = asObject(value, 'a chat message');
  switch (message['role']) {
    case 'user':
      onlyKeys(message, ['role', 'content'], 'a user message');
      return { role: 'user', content: asWords(message['content'], 'content of a user message') };
    case 'tool':
      onlyKeys(message, ['role', 'toolCallId', 'content'], 'a tool message');
      return {
        role: 'tool',
        toolCallId: asText(message['toolCallId'], 'toolCallId', MAX_ID_CHARACTERS),
        content: asWords(message['content'], 'content of a tool message'),
      };
    default:
      // System and assistant messages come from the host alone.
      throw new ProtocolViolation('a chat message has a role it may not have');
  }
}

function parseAddedMessages(value: JsonValue | undefined): AddedMessage[] {
  return asArray(value, 'messages', MAX_MESSAGES).map(parseAddedMessage);
}

function parseModelContinue(params: JsonObject): ModelContinueParams {
  onlyKeys(params, ['messages', 'tools', 'toolChoice'], 'params of model.complete');
  const messages = parseAddedMessages(params['messages']);
  const toolChoice = params['toolChoice'];
  if (toolChoice !== 'auto' && toolChoice !== 'none') throw new ProtocolViolation('toolChoice is unknown');
  const tools = asArray(params['tools'], 'tools', MAX_TOOLS).map((name) =>
    asText(name, 'name of a tool', MAX_NAME_CHARACTERS),
  );
  return { messages, tools, toolChoice };
}

function parseCodeEvaluate(params: JsonObject): CodeEvaluateParams {
  onlyKeys(params, ['language', 'code'], 'params of code.evaluate');
  const language = params['language'];
  if (language !== 'javascript' && language !== 'python') throw new ProtocolViolation('language is unknown');
  return { language, code: asText(params['code'], 'code') };
}

function parseWebFetch(params: JsonObject): WebFetchParams {
  onlyKeys(params, ['url'], 'params of web.fetch');
  return { url: asText(params['url'], 'url', MAX_URL_CHARACTERS) };
}

function parseStep(message: JsonObject): StepNotice {
  onlyKeys(message, ['method', 'params'], 'step');
  const params = asObject(message['params'], 'params of step');
  onlyKeys(params, ['name', 'detail'], 'params of step');
  return {
    method: 'step',
    params: {
      name: asText(params['name'], 'name of step', MAX_NAME_CHARACTERS),
      detail: asText(params['detail'], 'detail of step', MAX_STEP_DETAIL_CHARACTERS),
    },
  };
}

function parseSay(message: JsonObject): SayNotice {
  onlyKeys(message, ['method', 'params'], 'say');
  const params = asObject(message['params'], 'params of say');
  if (params['text'] !== undefined) {
    onlyKeys(params, ['text'], 'params of say');
    return { method: 'say', params: { text: asWords(params['text'], 'text of say') } };
  }
  onlyKeys(params, ['messages'], 'params of say');
  return { method: 'say', params: { messages: parseAddedMessages(params['messages']) } };
}

function parseRequest(message: JsonObject): RunnerRequest {
  onlyKeys(message, ['id', 'method', 'params'], 'a request');
  const id = message['id'];
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 1) {
    throw new ProtocolViolation('id is not a positive integer');
  }
  const params = asObject(message['params'], 'params');
  switch (message['method']) {
    case 'model.complete':
      return { id, method: 'model.complete', params: parseModelContinue(params) };
    case 'code.evaluate':
      return { id, method: 'code.evaluate', params: parseCodeEvaluate(params) };
    case 'web.fetch':
      return { id, method: 'web.fetch', params: parseWebFetch(params) };
    case 'output.check': {
      onlyKeys(params, ['output'], 'params of output.check');
      if (params['output'] === undefined) throw new ProtocolViolation('output is missing');
      return { id, method: 'output.check', params: { output: params['output'] } };
    }
    default:
      throw new ProtocolViolation('method is unknown');
  }
}

function parseDone(message: JsonObject): DoneMessage {
  onlyKeys(message, ['type', 'status', 'output'], 'done');
  const output = message['output'];
  if (message['status'] === 'failed') {
    return { type: 'done', status: 'failed', output: asText(output, 'output of a failed run') };
  }
  if (message['status'] !== 'completed') throw new ProtocolViolation('status is unknown');
  if (output === undefined) throw new ProtocolViolation('output is missing');
  return { type: 'done', status: 'completed', output };
}

/**
 * Reads one line that a runner sent.
 * @param isWithinBounds the result of `JsonBounds` when the caller has checked the line already.
 * @throws ProtocolViolation for anything that is not exactly a message of the protocol.
 */
export function parseRunnerMessage(line: string, isWithinBounds?: boolean): RunnerMessage {
  const message = parseJsonObject(line, isWithinBounds);
  if (message === undefined) throw new ProtocolViolation('the line is not a JSON object');
  if (message['type'] === 'done') return parseDone(message);
  if (message['method'] === 'step') return parseStep(message);
  if (message['method'] === 'say') return parseSay(message);
  return parseRequest(message);
}

/**
 * Reads the first line of a sandbox.
 * @throws ProtocolViolation when it does not announce this version of `entry`.
 */
export function parseReadyMessage(line: string, entry: SandboxEntry): ReadyMessage {
  const message = line.length <= MAX_READY_CHARACTERS ? parseJsonObject(line) : undefined;
  if (message?.['type'] !== 'ready') throw new ProtocolViolation('the first line is not a ready message');
  const protocol = message['protocol'];
  if (typeof protocol !== 'number' || message['entry'] !== entry) {
    throw new ProtocolViolation('the ready message is not of the entry that was started');
  }
  return { type: 'ready', protocol, entry };
}
