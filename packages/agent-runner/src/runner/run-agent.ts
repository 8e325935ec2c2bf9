import {
  type DoneMessage,
  type JsonValue,
  type ModelCompleteResult,
  NOT_IN_FORM,
  type RunRequest,
  type ToolCall,
} from '../protocol.js';
import { addSpoken, SPOKEN_CHARACTERS, takesAnyText } from '../spoken-text.js';
import { answerKind, readAnswer } from './answer.js';
import { Conversation } from './conversation.js';
import { firstMessage } from './first-message.js';
import { type Host, HostRefusal } from './host.js';
import { inputText } from './run-input.js';
import { createToolBox } from './tools/tool-box.js';

const MAX_TOOL_CALLS_AT_ONCE = 32;
/** Enough violations for a repair, without filling the model's context. */
const MAX_SHOWN_ERRORS = 20;

function failed(output: string): DoneMessage {
  return { type: 'done', status: 'failed', output };
}

function completed(output: JsonValue, spoken: string): DoneMessage {
  const whole = typeof output === 'string' && spoken !== '' ? addSpoken(spoken, output) : output;
  return { type: 'done', status: 'completed', output: whole };
}

function repairRequest(errors: readonly string[]): string {
  const list = errors.slice(0, MAX_SHOWN_ERRORS).map((error) => `- ${error}`);
  return (
    `Your answer cannot be accepted:\n${list.join('\n')}\n` +
    'Reply with the complete corrected answer and nothing else.'
  );
}

/**
 * The agent loop: asks the model, runs the tools it calls, and takes its final answer, for at most
 * `run.maxSteps` model calls. An answer that does not match the output schema is sent back once for repair.
 * @returns the end of the run. A failure has a text for the renter.
 */
export async function runAgent(run: RunRequest, host: Host): Promise<DoneMessage> {
  const text = inputText(run.input);
  const tools = createToolBox(run, text, host);
  const conversation = new Conversation(host);
  let lastCall = run.maxSteps;
  let repairAsked = false;
  /** Long texts beside tool calls, for an answer in free text. They may have left already. */
  let spoken = '';

  /** Runs the calls of one model message in order. Returns the answer when one of them was final and right. */
  async function useTools(calls: readonly ToolCall[]): Promise<{ answer: JsonValue } | undefined> {
    for (const call of calls) {
      await host.step(call.name.slice(0, 64), `${call.arguments.length} characters of arguments`);
      const outcome = await tools.invoke(call);
      let result: JsonValue;
      if ('answer' in outcome) {
        const check = await host.call('output.check', { output: outcome.answer });
        if (check.valid) return outcome;
        result = {
          error: 'The returned value cannot be the answer.',
          violations: check.errors.slice(0, MAX_SHOWN_ERRORS),
        };
      } else {
        result = outcome.result;
      }
      conversation.add({ role: 'tool', toolCallId: call.id, content: JSON.stringify(result) });
    }
    return undefined;
  }

  conversation.add({ role: 'user', content: firstMessage(run, text, tools.names) });
  for (let call = 1; call <= lastCall; call += 1) {
    if (conversation.isTooLong) {
      return failed('The agent could not finish: its conversation with the model became too long.');
    }
    // On the last call the model has to answer without tools.
    const toolChoice = call < lastCall && tools.names.length > 0 ? 'auto' : 'none';
    await host.step('model', `call ${call} of at most ${lastCall}`);
    let reply: ModelCompleteResult;
    try {
      reply = await conversation.complete(tools.names, toolChoice);
    } catch (error) {
      if (error instanceof HostRefusal) return failed(`The agent's model did not answer: ${error.message}`);
      throw error;
    }

    if (reply.toolCalls.length > 0) {
      if (toolChoice === 'none') break;
      if (reply.toolCalls.length > MAX_TOOL_CALLS_AT_ONCE) {
        return failed('The agent asked for too many tools at once.');
      }
      const beside = reply.content?.trim() ?? '';
      if (takesAnyText(run.outputSchema) && beside.length > SPOKEN_CHARACTERS)
        spoken = addSpoken(spoken, beside);
      const done = await useTools(reply.toolCalls);
      if (done !== undefined) return completed(done.answer, spoken);
      continue;
    }

    if (reply.finishReason === 'content_filter') return failed("The agent's model declined to answer.");
    if (reply.finishReason === 'length' && answerKind(run.outputSchema) === 'text') {
      return failed("The agent's answer was cut off: it is longer than its model can write at once.");
    }
    const candidate = readAnswer(reply.content, run.outputSchema);
    let errors: string[];
    if ('output' in candidate) {
      const check = await host.call('output.check', { output: candidate.output });
      if (check.valid) return completed(candidate.output, spoken);
      errors = check.errors;
    } else {
      errors = [candidate.problem];
    }
    if (repairAsked) {
      const reasons = errors.slice(0, MAX_SHOWN_ERRORS).join('; ');
      return failed(`${NOT_IN_FORM}: ${reasons}.`);
    }
    repairAsked = true;
    lastCall = Math.max(lastCall, call + 1);
    conversation.add({ role: 'user', content: repairRequest(errors) });
  }
  return failed(`The agent did not finish within ${run.maxSteps} steps.`);
}
