import { MAX_TOOL_RESULT_BYTES } from '../../runner-tools.js';
import type { CodeEvaluateParams, JsonValue } from '../../protocol.js';
import { optionalBoolean, parseArguments, requiredText, ToolProblem } from './arguments.js';
import type { Host } from '../host.js';

/** The result of a tool: a value for the model, or the answer to the whole task. */
export type ToolOutcome = { result: JsonValue } | { answer: JsonValue };

/** `run_javascript`, `run_python`: the code runs in another process on the host's side, never in this one. */
export async function runCode(
  language: CodeEvaluateParams['language'],
  rawArguments: string,
  host: Host,
): Promise<ToolOutcome> {
  const args = parseArguments(rawArguments, ['code', 'final']);
  const code = requiredText(args, 'code');
  const final = optionalBoolean(args, 'final');
  const evaluation = await host.call('code.evaluate', { language, code });
  const printed = evaluation.stdout === '' ? {} : { stdout: evaluation.stdout };
  if ('error' in evaluation) return { result: { error: evaluation.error, ...printed } };
  if (final) return { answer: evaluation.value };
  const bytes = new TextEncoder().encode(JSON.stringify(evaluation.value)).length;
  if (bytes > MAX_TOOL_RESULT_BYTES) {
    throw new ToolProblem(
      `The returned value has ${bytes} bytes; at most ${MAX_TOOL_RESULT_BYTES} can be shown to you. ` +
        'Return less, or set final to true to make it your answer.',
    );
  }
  return { result: { value: evaluation.value, ...printed } };
}
