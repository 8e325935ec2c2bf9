import type { EndedRun, Receipt, RunState } from '@agent-rental/contract';
import { isApiError } from '@agent-rental/sdk';
import { element } from '../elements.js';
import { logIn } from '../session/log-in.js';
import { find, findButton, say, work, type Session } from '../wallets.js';
import { keptRequest } from './kept-requests.js';
import { outputText } from './output.js';
import { outputView } from './output-view.js';
import { receiptFacts, runFacts } from './run-facts.js';
import { endWords, stepEntries, stepsOf } from './run-steps.js';
import { verifyRun } from './verify-run.js';

/** How long the service is asked to wait for the end of a run: then the page shows the step that it has reached. */
const WAIT_SECONDS = 3;
const TICK_MS = 1_000;

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
      if ('listing_id' in state) return showRemoved(root, state);
      showAsked(root, id);
      if (state.status === 'running') return follow(root, given, state);
      await showEnd(root, given, state);
    },
  });
}

/** The state of the run; its receipt once the result was removed. */
async function firstState({ client }: Session, id: string): Promise<RunState | Receipt> {
  try {
    return await client.getRun(id);
  } catch (error) {
    if (!isApiError(error) || error.code !== 'not_found') throw error;
    // The receipt stays; without one there is no such run, which it then says.
    return (await client.getReceipt(id)).receipt;
  }
}

/** Follows a run to its end, shows its steps, and offers to cancel it meanwhile. */
function follow(root: HTMLElement, session: Session, first: RunState): void {
  const { client } = session;
  const cancel = findButton(root, '#cancel');
  cancel.hidden = false;
  cancel.addEventListener('click', () =>
    work(root, 'It was not cancelled.', async () => {
      say(root, 'Cancelling.');
      await client.cancelRun(first.run_id);
    }),
  );
  say(root, 'It runs. This page shows its end when it comes.');
  const stopClock = showElapsed(root, first);
  const toEnd = async () => {
    let state = first;
    while (state.status === 'running') {
      showSteps(root, state);
      state = await client.getRun(first.run_id, { waitSeconds: WAIT_SECONDS });
    }
    stopClock();
    cancel.hidden = true;
    await showEnd(root, session, state);
  };
  toEnd().catch((error: unknown) => {
    stopClock();
    say(root, `The run may go on; load the page again. ${error instanceof Error ? error.message : ''}`);
  });
}

/** Counts the seconds since the start of a run. A screen reader is not told each. */
function showElapsed(root: HTMLElement, state: RunState): () => void {
  const startedAt = state.status === 'running' ? state.started_at : undefined;
  if (startedAt === undefined) return () => undefined;
  const place = find(root, '#elapsed');
  // The clock of this machine may be behind.
  const began = Math.min(Date.parse(startedAt), Date.now());
  const show = () => (place.textContent = `${Math.floor((Date.now() - began) / 1000)} s`);
  show();
  const ticks = setInterval(show, TICK_MS);
  return () => {
    clearInterval(ticks);
    place.textContent = '';
  };
}

function showSteps(root: HTMLElement, state: RunState, receipt?: Receipt): void {
  find(root, '#facts').replaceChildren(...runFacts(state, receipt));
  find(root, '#run-steps').replaceChildren(...stepEntries(stepsOf(state, receipt)));
}

/** Shows what this tab sent, where it began the run, and fills the agent's form with it. */
function showAsked(root: HTMLElement, runId: string): void {
  const request = keptRequest(runId);
  if (request === undefined) return;
  find(root, '#asked-task').textContent = outputText(request.task).text;
  find(root, '#asked-input').textContent =
    request.input === undefined ? 'none' : outputText(request.input).text;
  find(root, '#asked').hidden = false;
}

async function showEnd(root: HTMLElement, { client }: Session, state: EndedRun): Promise<void> {
  // The facts of the receipt are an addition.
  const receipt = await client.getReceipt(state.run_id).then(
    (answer) => answer.receipt,
    () => undefined,
  );
  showSteps(root, state, receipt);
  const { text, isCut } = outputText(state.output);
  find(root, '#output-by').textContent = state.status === 'completed' ? 'Output' : 'Reason';
  find(root, '#output').textContent = text;
  const view = outputView(state.output);
  find(root, '#rendered').replaceChildren(...(view ? [view] : []));
  if (view) find(root, '#raw').removeAttribute('open');
  offerDownload(find(root, '#download'), state);
  offerAgain(find(root, '#run-again'), state);
  find(root, '#output-note').textContent = isCut ? 'This is its beginning. The download has all of it.' : '';
  find(root, '#ended').hidden = false;
  say(root, `The run has ended: ${endWords(state).toLowerCase()}.`);
}

function showRemoved(root: HTMLElement, receipt: Receipt): void {
  find(root, '#facts').replaceChildren(...receiptFacts(receipt));
  find(root, '#result').hidden = true;
  find(root, '#ended').hidden = false;
  say(root, 'The result of this run is not kept any more. Its receipt still records it.');
}

/** Leads to the agent's form, with the same task and input where this tab has them. */
function offerAgain(link: HTMLElement, { run_id: id, agent_id: agent }: EndedRun): void {
  const isKept = keptRequest(id) !== undefined;
  link.textContent = isKept ? 'Run again with changes' : 'Run the agent again';
  link.setAttribute('href', `/dashboard/listings/${agent}${isKept ? `?again=${id}` : ''}#try`);
}

/** Gives the whole output as a file: a text unchanged, any other value as JSON. */
function offerDownload(link: HTMLElement, { output, run_id: id }: EndedRun): void {
  const [text, ending] = typeof output === 'string' ? [output, 'txt'] : [JSON.stringify(output), 'json'];
  link.setAttribute('href', URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' })));
  link.setAttribute('download', `run-${id}.${ending}`);
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
