import type { JsonObject } from './protocol.js';

/** A tool as it is offered to a model: the host turns it into its provider's form. */
export interface ToolDefinition {
  name: InSandboxToolName;
  /** The only scope under which a manifest may ask for it. */
  scope: 'input_only';
  description: string;
  /** JSON Schema of the arguments. */
  parameters: JsonObject;
}

/** The tools that the runner serves by itself, without network and with nothing but the run's input. */
export type InSandboxToolName = 'read_input' | 'list_inputs' | 'search_input' | 'run_javascript';

/** Most characters `read_input` returns at once. */
export const MAX_READ_CHARACTERS = 32_768;
/** Most matches `search_input` returns. */
export const MAX_SEARCH_RESULTS = 200;
/** Bytes of a tool result that is given back to the model; a larger value of `run_javascript` is refused. */
export const MAX_TOOL_RESULT_BYTES = 256 * 1024;

export const inSandboxTools: Readonly<Record<InSandboxToolName, ToolDefinition>> = {
  read_input: {
    name: 'read_input',
    scope: 'input_only',
    description:
      'Reads the input of this task as text, from an offset on. An object input is read as indented JSON. ' +
      'The result says where to continue.',
    parameters: {
      type: 'object',
      additionalProperties: false,
      properties: {
        offset: { type: 'integer', minimum: 0, description: 'First character to read. Default 0.' },
        length: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_READ_CHARACTERS,
          description: `How many characters to read. Default ${MAX_READ_CHARACTERS}.`,
        },
      },
    },
  },
  list_inputs: {
    name: 'list_inputs',
    scope: 'input_only',
    description: 'Lists the inputs of this task with their type and size.',
    parameters: { type: 'object', additionalProperties: false, properties: {} },
  },
  search_input: {
    name: 'search_input',
    scope: 'input_only',
    description:
      'Searches the text of the input line by line. Returns line number, character offset (for read_input) ' +
      'and the text around each match.',
    parameters: {
      type: 'object',
      additionalProperties: false,
      required: ['query'],
      properties: {
        query: { type: 'string', minLength: 1, maxLength: 500, description: 'What to look for.' },
        regex: {
          type: 'boolean',
          description: 'Take query as a JavaScript regular expression instead of plain text. Default false.',
        },
        case_sensitive: { type: 'boolean', description: 'Default false.' },
        max_results: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_SEARCH_RESULTS,
          description: 'Default 50.',
        },
      },
    },
  },
  run_javascript: {
    name: 'run_javascript',
    scope: 'input_only',
    description:
      'Runs JavaScript in an isolated process without network, files or packages. The code is the body of an ' +
      'async function that gets `input` (the whole input: a string or an object) and `task`. It must return ' +
      'a JSON value. Prefer it to doing arithmetic, parsing or counting yourself. Set final to true when the ' +
      'returned value is the complete answer: it is then used exactly as it is.',
    parameters: {
      type: 'object',
      additionalProperties: false,
      required: ['code'],
      properties: {
        code: { type: 'string', minLength: 1, description: 'Body of `async (input, task) => { ... }`.' },
        final: {
          type: 'boolean',
          description: 'If the code succeeds, its value is the answer to the task. Default false.',
        },
      },
    },
  },
};

/** True for a name that the runner serves. */
export function isInSandboxTool(name: string): name is InSandboxToolName {
  return Object.hasOwn(inSandboxTools, name);
}
