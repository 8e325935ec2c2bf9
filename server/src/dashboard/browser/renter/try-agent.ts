import { formatSol, rentalModel, type CredentialVerification, type DoneEvent } from '@agent-rental/contract';
import { isApiError } from '@agent-rental/sdk';
import { element } from '../elements.js';
import { findTextArea } from '../fields.js';
import { logIn } from '../session/log-in.js';
import { showTour } from '../session/tour.js';
import { find, findButton, say, work, type Session } from '../wallets.js';
import { WrongField } from '../wrong-field.js';
import { keepRequest, keptRequest, type KeptRequest } from './kept-requests.js';
import { MOST_CHARACTERS, outputText } from './output.js';
import { chosenFile, offerFile, sendFile } from './input-file.js';
import { exampleTexts, inputOf, type TypedInput } from './typed-input.js';

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** Runs the agent of a listing's page by the form that the page has of its input, for a wallet that may run it. */
export function offerTry(root: HTMLElement): void {
  let session: Session | undefined;
  logIn(root, {
    failed: 'It cannot be tried now.',
    onSession: async (given) => {
      const standing = await given.client.verifyCredential(root.dataset['listing'] ?? '');
      const terms = termsOf(root, standing);
      find(root, '#terms').textContent = terms ?? '';
      find(root, '#try-in').hidden = terms === undefined;
      find(root, '#needs-rental').hidden = terms !== undefined;
      fillAgain(root);
      showTour(terms === undefined ? 2 : 3);
      say(root, terms === undefined ? refusalOf(standing) : '');
      session = given;
    },
  });
  root.querySelector<HTMLElement>('#use-example')?.addEventListener('click', ({ currentTarget }) => {
    const { example } = (currentTarget as HTMLElement).dataset;
    fillIn(root, JSON.parse(example ?? 'null'));
    const task = root.querySelector<HTMLTextAreaElement>('#task');
    if (task && task.value === '') task.value = 'Try the example.';
    say(root, 'The example is in the form.');
  });
  offerFile(root);
  find(root, '#task-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const now = session;
    if (now) work(root, 'It did not run.', () => run(root, now));
  });
}

/** Fills the form with an input. */
function fillIn(root: HTMLElement, input: unknown): void {
  const texts = exampleTexts(
    input,
    controlsOf(root).map(({ dataset: { name, input: kind } }) => ({ name, kind })),
  );
  controlsOf(root).forEach((control, index) => (control.value = texts[index] ?? ''));
}

/** Fills the form with the request of the run that the page's address names, where this tab began it. */
function fillAgain(root: HTMLElement): void {
  const request = keptRequest(new URLSearchParams(location.search).get('again'));
  if (request === undefined) return;
  fillIn(root, request.input);
  findTextArea(root, '#task').value = request.task;
}

const controlsOf = (root: HTMLElement): Control[] => [...root.querySelectorAll<Control>('[data-input]')];

/** The cost of a run for the wallet; undefined where it may not run. */
function termsOf({ dataset }: HTMLElement, { valid, status }: CredentialVerification): string | undefined {
  if (!valid) {
    if (status !== 'not_found' || dataset['trial'] === undefined) return undefined;
    return dataset['trial'] === 'renters'
      ? 'The first run of your wallet is free, if it has rented an agent of another creator.'
      : 'The first run of your wallet is free, and needs no rental.';
  }
  const model = rentalModel.parse(dataset['model']);
  switch (model) {
    case 'one_time':
    case 'subscription':
      return 'You have rented it: runs cost nothing more.';
    case 'per_query':
      return `You have rented it: a run takes ${dataset['price']} from your prepaid balance.`;
    default:
      return model satisfies never;
  }
}

function refusalOf({ status }: CredentialVerification): string {
  switch (status) {
    case 'not_found':
      return 'Your wallet has not rented it.';
    case 'expired':
      return 'Your rental has expired.';
    case 'low_balance':
      return 'Your prepaid balance is below the price of a run.';
    case 'suspended':
      return 'The operator has suspended it.';
    case 'active':
      return 'Your rental is not confirmed on Solana yet. Load the page again.';
    default:
      return status satisfies never;
  }
}

/** Runs it, and shows the output as it comes. */
async function run(root: HTMLElement, session: Session): Promise<void> {
  const { client } = session;
  const output = find(root, '#output');
  const file = chosenFile(root);
  const input: TypedInput = file === undefined ? typedInput(root) : undefined;
  const task = root.querySelector<HTMLTextAreaElement>('#task')?.value ?? '';
  if (file !== undefined) say(root, 'The file is sent.');
  const body = {
    agent_id: root.dataset['listing'] ?? '',
    task,
    ...(file === undefined ? {} : { input_uri: await sendFile(root, session, file) }),
    ...(input === undefined ? {} : { input }),
  };
  const stopped = new AbortController();
  const stop = findButton(root, '#stop');
  const ended = new AbortController();
  stop.addEventListener('click', () => stopped.abort(new Error('You cancelled the run.')), {
    signal: ended.signal,
  });
  // The buttons of the part wait for the run, but for this one.
  stop.disabled = false;
  stop.hidden = false;
  output.textContent = '';
  find(root, '#outcome').replaceChildren();
  find(root, '#result').hidden = false;
  say(root, 'It runs.');
  try {
    let shown = '';
    const events = client.executeStream(body as Parameters<typeof client.executeStream>[0], {
      signal: stopped.signal,
      onRunId: (id) => {
        keepRequest({
          runId: id,
          task,
          ...(input === undefined ? {} : { input: input as KeptRequest['input'] }),
        });
        find(root, '#outcome').replaceChildren(pageOf(id));
      },
    });
    for await (const event of events) {
      if (event.event === 'done') showEnd(root, event.data);
      else if (shown.length <= MOST_CHARACTERS) {
        shown += event.data.delta;
        output.textContent = outputText(shown).text;
      }
    }
  } catch (error) {
    if (!stopped.signal.aborted) throw aboutField(root, error);
    say(root, 'You cancelled the run.');
  } finally {
    ended.abort();
    stop.hidden = true;
  }
}

const typedInput = (root: HTMLElement): TypedInput =>
  inputOf(
    controlsOf(root).map((element) => {
      const { dataset, value } = element;
      return { name: dataset['name'], kind: dataset['input'], value, element };
    }),
  );

/** The same error, shown beside the field whose member the marketplace refuses. */
function aboutField(root: HTMLElement, error: unknown): unknown {
  const member = isApiError(error) ? /^input\.([^.: ]+)/.exec(error.reason)?.[1] : undefined;
  const field = controlsOf(root).find(({ dataset }) => member !== undefined && dataset['name'] === member);
  return field === undefined ? error : new WrongField(field, (error as Error).message);
}

function showEnd(root: HTMLElement, done: DoneEvent): void {
  const { text, isCut } = outputText(done.output);
  find(root, '#output').textContent = text;
  const price = done.trial === true ? 'a free first run' : formatSol(done.cost_lamports);
  find(root, '#outcome').replaceChildren(
    element('span', { text: `${isCut ? 'This is the beginning of the output. ' : ''}It cost ${price}. ` }),
    pageOf(done.run_id),
  );
  if (done.status === 'completed') showTour(4);
  say(root, done.status === 'completed' ? 'The run is completed.' : 'The run has failed.');
}

const pageOf = (runId: string): HTMLElement =>
  element('a', { href: `/dashboard/runs/${runId}`, text: 'This run, with its receipt' });
