import { TOOL_SCOPES, type AgentToolName } from '@agent-rental/contract';
import { logIn } from '../session/log-in.js';
import { find, findInput, say, work, type Session } from '../wallets.js';
import { respondTo } from '../events.js';
import { findForm, keepPicture, typedFields } from '../fields.js';
import { endOfJob } from './jobs.js';
import { leastPriceOf, manifestInput } from './manifest-input.js';
import { tellNet } from './net-price.js';
import { offerPublication, showSecret } from './publication.js';
import { registrationOf, type Draft, type TypedAgent } from './typed-agent.js';
import { showViolations, type Violation } from './violations.js';

const NOT_REGISTERED = 'It was not registered.';

/** Registers an agent by a form or a manifest, follows its job, and publishes it with a wallet of this browser. */
export function publishAgent(root: HTMLElement): void {
  let session: Session | undefined;
  const form = findForm(root, '#agent-form');
  tellNet(root);
  /** Goes on with the job in the page's address. */
  const resume = async (now: Session, job: string) => {
    const refused = (violations: readonly Violation[]) =>
      showViolations(form, find(root, '#agent-wrong'), violations);
    try {
      await follow(root, now, job, refused);
    } catch (error) {
      say(root, `${NOT_REGISTERED} ${(error as Error).message}`);
    }
  };
  logIn(root, {
    failed: 'You are not logged in.',
    onSession: async (connected) => {
      session = connected;
      find(root, '#logged-in').hidden = true;
      await session.client.listAgents({ limit: 1 });
      find(root, '#logged-in').hidden = false;
      say(root, `Logged in as ${session.signer.address}.`);
      const job = new URLSearchParams(location.search).get('job');
      if (job !== null) await resume(session, job);
    },
  });
  keepPicture(form);
  form.addEventListener('change', () => {
    const mode = modeOf(form);
    find(form, '#declarative').hidden = mode !== 'declarative';
    find(form, '#connected').hidden = mode !== 'connected';
  });
  const begin = (draft: Draft, fields: HTMLElement, list: HTMLElement, forgetKey: () => void) => {
    const now = session;
    if (now === undefined) return;
    work(root, NOT_REGISTERED, async () => {
      showViolations(fields, list, draft.faults);
      if (draft.faults.length > 0) throw new Error(countWords(draft.faults.length));
      say(root, 'The marketplace checks it.');
      const { job_id: jobId, webhook_secret: secret } = await now.client.registerAgent(draft.body);
      showSecret(root, secret);
      // Loading the page again goes on with it.
      history.replaceState(null, '', `?job=${encodeURIComponent(jobId)}`);
      await follow(root, now, jobId, (violations) => showViolations(fields, list, violations));
      forgetKey();
    });
  };
  respondTo(form, 'submit', () => {
    const key = findInput(form, '[data-path=model_key]');
    begin(registrationOf(typedAgent(form), leastPriceOf(root)), form, find(root, '#agent-wrong'), () => {
      key.value = '';
    });
  });
  const manifestForm = findForm(root, '#manifest-form');
  const input = manifestInput(root);
  respondTo(manifestForm, 'submit', () => begin(input.read(), manifestForm, input.list, input.forgetKey));
}

/** Follows a job to its end, and offers to publish its draft. */
async function follow(
  root: HTMLElement,
  session: Session,
  jobId: string,
  refused: (violations: readonly Violation[]) => void,
): Promise<void> {
  const job = await endOfJob(session.client, jobId);
  if (job.result === undefined) {
    const details = job.error?.details ?? [];
    history.replaceState(null, '', location.pathname);
    find(root, '#secret-part').hidden = true;
    refused(details);
    throw new Error(details.length === 0 ? (job.error?.message ?? '') : countWords(details.length));
  }
  const { listing_id: listingId } = job.result;
  const offered = job.next_action?.body['listing'] as { rental_model?: unknown } | undefined;
  find(root, '#registration').hidden = true;
  const { review, warnings } = job;
  offerPublication(
    root,
    session,
    {
      listingId,
      lacksTerms: offered?.rental_model !== undefined,
      ...(review && { review }),
      ...(warnings && { warnings }),
    },
    async () => {
      history.replaceState(null, '', location.pathname);
      find(root, '#published-listing').setAttribute('href', `/dashboard/listings/${listingId}`);
      find(root, '#published-agent').setAttribute('href', `/dashboard/creator/agents/${listingId}`);
      find(root, '#published').hidden = false;
      say(root, `Published: ${listingId} is active, and can be rented.`);
    },
  );
  say(root, `Registered as ${listingId}. It is published with the button below.`);
  find(root, '#publication').scrollIntoView({ block: 'nearest' });
}

function typedAgent(form: HTMLFormElement): TypedAgent {
  const chosen = [...form.querySelectorAll<HTMLInputElement>('[name=tool]')].filter(({ checked }) => checked);
  return {
    mode: modeOf(form),
    fields: typedFields(form),
    tools: chosen.map(({ value }) => value).filter(isTool),
  };
}

const isTool = (name: string): name is AgentToolName => Object.hasOwn(TOOL_SCOPES, name);

function modeOf(form: HTMLFormElement): TypedAgent['mode'] {
  const isConnected = form.querySelector<HTMLInputElement>('[name=mode][value=connected]')?.checked === true;
  return isConnected ? 'connected' : 'declarative';
}

const countWords = (count: number): string =>
  count === 1
    ? 'One thing is wrong: see beside the field.'
    : `${count} things are wrong: see beside the fields.`;
