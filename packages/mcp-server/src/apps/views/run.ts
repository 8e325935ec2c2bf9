import { answers, question, textOf, webAddress } from './approval-part.js';
import { button, element, facts, show, sol, tell } from './elements.js';
import { connectHost, type Host, type ShownResult } from './host.js';

/** The facts of a run in `_meta`. */
interface RunFacts {
  run_id?: string;
  agent_id?: string;
  status?: string;
  cost_lamports?: number;
  duration_ms?: number;
}

const STATES: Record<string, string> = {
  running: 'It runs.',
  completed: 'Completed.',
  failed: 'Failed.',
  error: 'Nothing ran.',
};
/** The result that is shown: an earlier wait must not replace it. */
let shown = 0;

void connectHost((result, host) => showRun(result, host));

function showRun(result: ShownResult, host: Host): void {
  shown += 1;
  const { content, structuredContent, _meta: meta = {} } = result;
  const run = (meta['agent-rental/run'] ?? {}) as RunFacts;
  const error = meta['agent-rental/error'] as { approval_url?: string } | undefined;
  const url = webAddress(error?.approval_url);
  const state = run.status ?? (result.isError === true ? 'error' : 'completed');
  const output = structuredContent?.['output'] ?? structuredContent;
  const text = output === undefined ? textOf(content) : JSON.stringify(output, null, 2);
  show(
    element('h1', ['Run of an agent']),
    facts([
      ['Agent', run.agent_id],
      ['Run', run.run_id],
      ['Cost', sol(run.cost_lamports)],
      ['Seconds', run.duration_ms === undefined ? undefined : (run.duration_ms / 1_000).toFixed(1)],
    ]),
    element('pre', [text]),
    question(meta),
    url === undefined ? undefined : answers(host, url),
    state === 'running' ? cancelButton(run.run_id ?? '', host) : undefined,
  );
  document.querySelector('pre')?.setAttribute('tabindex', '0');
  tell(STATES[state] ?? state);
  if (state === 'running' && run.run_id !== undefined) void follow(run.run_id, host, shown);
}

const cancelButton = (runId: string, host: Host) =>
  element('p', [
    button(
      'Cancel the run',
      async () => showRun(await host.callTool('cancel_run', { run_id: runId }), host),
      (error) => tell(error.message),
    ),
  ]);

/** Waits for the end of a run. `get_run` waits itself, and costs nothing. */
async function follow(runId: string, host: Host, at: number): Promise<void> {
  const result = await host
    .callTool('get_run', { run_id: runId })
    .catch((error: Error) => tell(error.message));
  if (result !== undefined && shown === at) showRun(result, host);
}
