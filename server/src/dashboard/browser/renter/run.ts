import { formatSol } from '@agent-rental/contract';
import type { EndedRun, RunState } from '@agent-rental/contract';
import { isApiError } from '@agent-rental/sdk';
import { boundedText, RUN_STATUS_WORDS } from '../../words.js';
import { element, fact } from '../elements.js';
import { logIn } from '../session/log-in.js';
import { find, findButton, say, work, type Session } from '../wallets.js';
import { outputText } from './output.js';
import { outputView } from './output-view.js';
import { secondsOf } from './runs.js';
import { verifyRun } from './verify-run.js';

/** How long the service is asked to wait for the end of a run. */
const WAIT_SECONDS = 25;
const MOST_ERROR_CHARACTERS = 2_000;

/** Shows one run of a wallet: as it goes on, how it ended, and its receipt. */
export function showRun(root: HTMLElement): void {
  const id = root.dataset['run'] ?? '';
  let session: Session | undefined;
  find(root, '#verify').addEventListener('click', () => {
    if (session) verify(root, session, id);
  });
  logIn(root, {
    failed: 'The run cannot be shown.',
    onSession: async (given) => {
      const state = await firstState(given, id);
      session = given;
      find(root, '#run-in').hidden = false;
      if (state) show(root, state);
      if (state?.status === 'running') follow(root, given, id);
      if (state === undefined) {
        find(root, '#ended').hidden = false;
        say(root, 'The result of this run is not kept any more. Its receipt still records it.');
      }
    },
  });
}

/** The state of the run; undefined once its result was removed. */
async function firstState({ client }: Session, id: string): Promise<RunState | undefined> {
  try {
    return await client.getRun(id);
  } catch (error) {
    if (!isApiError(error) || error.code !== 'not_found') throw error;
    // The receipt stays; without one there is no such run, which it then says.
    await client.getReceipt(id);
    return undefined;
  }
}

/** Follows a run to its end, and offers to cancel it meanwhile. */
function follow(root: HTMLElement, { client }: Session, id: string): void {
  const cancel = findButton(root, '#cancel');
  cancel.hidden = false;
  cancel.addEventListener('click', () =>
    work(root, 'It was not cancelled.', async () => {
      say(root, 'Cancelling.');
      await client.cancelRun(id);
    }),
  );
  const toEnd = async () => {
    for (;;) {
      const state = await client.getRun(id, { waitSeconds: WAIT_SECONDS });
      if (state.status === 'running') continue;
      cancel.hidden = true;
      show(root, state);
      return;
    }
  };
  toEnd().catch((error: unknown) =>
    say(root, `The run may go on; load the page again. ${error instanceof Error ? error.message : ''}`),
  );
}

function show(root: HTMLElement, state: RunState): void {
  const agent = element('a', { href: `/dashboard/listings/${state.agent_id}`, text: state.agent_id });
  find(root, '#facts').replaceChildren(
    ...fact('Agent', agent),
    ...fact('Status', statusWords(state)),
    ...(state.status === 'running' ? [] : endFacts(state)),
  );
  if (state.status === 'running') return say(root, 'It runs. This page shows its end when it comes.');
  const { text, isCut } = outputText(state.output);
  find(root, '#output').textContent = text;
  const view = outputView(state.output);
  find(root, '#rendered').replaceChildren(...(view ? [view] : []));
  if (view) find(root, '#raw').removeAttribute('open');
  offerDownload(find(root, '#download'), state);
  find(root, '#run-again').setAttribute('href', `/dashboard/listings/${state.agent_id}#try`);
  find(root, '#output-note').textContent = isCut ? 'This is its beginning. The download has all of it.' : '';
  find(root, '#ended').hidden = false;
  say(root, `The run has ended: ${statusWords(state).toLowerCase()}.`);
}

/** Gives the whole output as a file: a text unchanged, any other value as JSON. */
function offerDownload(link: HTMLElement, { output, run_id: id }: EndedRun): void {
  const [text, ending] = typeof output === 'string' ? [output, 'txt'] : [JSON.stringify(output), 'json'];
  link.setAttribute('href', URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' })));
  link.setAttribute('download', `run-${id}.${ending}`);
}

/** The state of a run. A run that its wallet cancelled is "Cancelled", not "Failed". */
function statusWords(state: RunState): string {
  if (state.status === 'failed' && state.stop_reason === 'cancelled') return 'Cancelled';
  return RUN_STATUS_WORDS[state.status];
}

/** The cost of a run, and why a run without a result was charged. */
function costWords({ status, cost_lamports: cost, trial }: EndedRun): string {
  if (trial === true) return 'A free first run';
  if (cost === 0) return 'Nothing was charged';
  if (status === 'completed') return formatSol(cost);
  return `${formatSol(cost)}: the agent was already at work, so its price was charged`;
}

function endFacts(state: EndedRun): HTMLElement[] {
  const { duration_ms: took, error, stop_reason: stopped, credited } = state;
  const STOPPED = { cancelled: 'Cancelled by the wallet', caller_left: 'The caller went away' } as const;
  return [
    ...fact('Cost', costWords(state)),
    ...fact('Took', secondsOf(took)),
    ...(stopped === undefined ? [] : fact('Stopped', STOPPED[stopped])),
    ...(credited === true ? fact('Credit', 'The next run of this agent is free') : []),
    ...(error === undefined
      ? []
      : fact('Error', element('bdi', { text: boundedText(error.message, MOST_ERROR_CHARACTERS) }))),
  ];
}

function verify(root: HTMLElement, session: Session, id: string): void {
  const place = find(root, '#verified');
  place.replaceChildren();
  work(root, 'The receipt was not verified.', async () => {
    const { isRight, checked, unchecked } = await verifyRun(
      session,
      { runId: id, programId: root.dataset['programId'] ?? '' },
      (text) => say(root, text),
    );
    const list = (texts: readonly string[]) =>
      element('ul', {}, ...texts.map((text) => element('li', { text })));
    place.append(
      element('h3', { text: isRight ? 'Verified by this browser' : 'Wrong' }),
      list(checked),
      ...(unchecked.length === 0
        ? []
        : [element('h3', { text: 'Not checked by this page' }), list(unchecked)]),
    );
    say(root, isRight ? 'The receipt is right.' : 'The receipt is wrong. Do not rely on it.');
  });
}
