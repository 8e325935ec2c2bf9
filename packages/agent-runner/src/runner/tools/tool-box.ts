import type { JsonValue, RunRequest, ToolCall } from '../../protocol.js';
import { isRunnerTool, type RunnerToolName, runnerTools } from '../../runner-tools.js';
import { ToolProblem } from './arguments.js';
import { type Host, HostRefusal } from '../host.js';
import { listInputs, readInput, searchInput } from './input-tools.js';
import { listFiles, readFileLines, searchFiles } from './repo-tools.js';
import { runCode, type ToolOutcome } from './run-code.js';
import { fetchPage } from './web-fetch.js';

/** The tools of one run. */
interface ToolBox {
  names: RunnerToolName[];
  /** Runs a call. A problem in a tool is a result for the model, not an error. */
  invoke(call: ToolCall): Promise<ToolOutcome>;
}

/** Builds the tools that the run grants, under exactly the scope they exist for. */
export function createToolBox(run: RunRequest, text: string | undefined, host: Host): ToolBox {
  const names = run.tools.flatMap(({ name, scope }) =>
    isRunnerTool(name) && runnerTools[name].scope === scope ? [name] : [],
  );

  const handlers: Record<RunnerToolName, (rawArguments: string) => ToolOutcome | Promise<ToolOutcome>> = {
    read_input: (rawArguments) => ({ result: readInput(text, rawArguments) }),
    list_inputs: (rawArguments) => ({ result: listInputs(run.input, text, rawArguments) }),
    search_input: async (rawArguments) => ({ result: await searchInput(text, rawArguments, host) }),
    run_javascript: (rawArguments) => runCode('javascript', rawArguments, host),
    run_python: (rawArguments) => runCode('python', rawArguments, host),
    web_fetch: async (rawArguments) => ({ result: await fetchPage(rawArguments, host) }),
    repo_list: (rawArguments) => ({ result: listFiles(run.files, rawArguments) }),
    repo_read: (rawArguments) => ({ result: readFileLines(run.files, rawArguments) }),
    repo_search: async (rawArguments) => ({ result: await searchFiles(run.files, rawArguments, host) }),
  };

  return {
    names,
    async invoke(call) {
      const name = names.find((granted) => granted === call.name);
      if (name === undefined) return problem(`There is no tool ${JSON.stringify(call.name)}.`);
      try {
        return await handlers[name](call.arguments);
      } catch (error) {
        if (error instanceof ToolProblem || error instanceof HostRefusal) return problem(error.message);
        throw error;
      }
    },
  };
}

function problem(message: string): { result: JsonValue } {
  return { result: { error: message } };
}
