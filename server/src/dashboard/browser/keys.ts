import { formatSol } from '@agent-rental/contract';
import type { ApiKey } from '@agent-rental/contract';
import { createApiKey } from '@agent-rental/sdk/solana';
import { configurations } from './configurations.js';
import { policyOf } from './limits.js';
import { logIn } from './session/log-in.js';
import { find, findInput, say, work, type Session } from './wallets.js';
import { WrongField } from './wrong-field.js';

/** Creates, lists and revokes the API keys of a wallet of this browser. A key that was created is shown once. */
export function manageKeys(root: HTMLElement): void {
  let session: Session | undefined;
  logIn(root, {
    failed: 'Your keys cannot be shown.',
    onSession: async (connected) => {
      await showKeys(root, connected);
      session = connected;
      find(root, '#keys-in').hidden = false;
      say(root, `Logged in as ${connected.signer.address}.`);
    },
  });
  find(root, '#create').addEventListener('submit', (event) => {
    event.preventDefault();
    const now = session;
    if (now) work(root, 'No key was created.', () => create(root, now));
  });
}

async function create(root: HTMLElement, session: Session): Promise<void> {
  const field = findInput(root, '#label');
  const label = field.value.trim();
  if (label === '') throw new WrongField(field, 'Give it a label, so that you know it again.');
  const policy = policyOf(root);
  const mayPublish = findInput(root, '#publish').checked;
  say(root, `${session.name} asks you to sign the rights of the key. It pays nothing.`);
  const { key } = await createApiKey(session.client, session.signer, label, {
    ...(Object.keys(policy).length > 0 ? { policy } : {}),
    ...(mayPublish ? { scopes: ['run', 'rent', 'publish'] } : {}),
  });
  find(root, '#key').textContent = key;
  find(root, '#configurations').replaceChildren(
    ...configurations(root.dataset['mcpUrl'] ?? '', location.origin, key).map(({ name, text }) =>
      disclosure(name, text),
    ),
  );
  find(root, '#created').hidden = false;
  await showKeys(root, session);
  say(root, 'The key was created. Copy it now: it is not shown again.');
}

async function showKeys(root: HTMLElement, session: Session): Promise<void> {
  const { api_keys: all } = await session.client.listApiKeys();
  const keys = all.filter(({ app }) => app === undefined);
  const apps = all.filter(({ app }) => app !== undefined);
  find(root, '#list').replaceChildren(
    ...keys.map((key) =>
      row(root, session, key, {
        words: `${key.label}: ${limitsOf(key)}. Created on ${key.created_at.slice(0, 10)}.`,
        verb: 'Revoke',
        ended: `The key ${key.label} works no more.`,
        failed: 'The key was not revoked.',
      }),
    ),
  );
  find(root, '#none').hidden = keys.length > 0;
  find(root, '#apps').replaceChildren(
    ...apps.map((key) =>
      row(root, session, key, {
        // The service knows the host; the app gave its own name.
        words: `At ${key.app?.redirect_host}: ${limitsOf(key)}. Connected on ${key.created_at.slice(0, 10)}. It calls itself ${key.label}.`,
        verb: 'Disconnect',
        ended: `The app ${key.label} works no more.`,
        failed: 'The app was not disconnected.',
      }),
    ),
  );
  find(root, '#no-apps').hidden = apps.length > 0;
}

function row(
  root: HTMLElement,
  session: Session,
  key: ApiKey,
  { words, verb, ended, failed }: { words: string; verb: string; ended: string; failed: string },
): HTMLLIElement {
  const item = document.createElement('li');
  item.className = 'card';
  const text = document.createElement('p');
  text.textContent = words;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'plain danger';
  button.textContent = verb;
  button.setAttribute('aria-label', `${verb} ${key.label}`);
  const end = async () => {
    if (!confirm(`${verb} ${key.label}? It stops at once, and cannot be undone.`)) return;
    await session.client.revokeApiKey(key.id);
    await showKeys(root, session);
    say(root, ended);
  };
  button.addEventListener('click', () => work(root, failed, end));
  item.append(text, button);
  return item;
}

function limitsOf({ scopes, policy }: ApiKey): string {
  const limits = [
    `may ${scopes.join(', ')}`,
    ...(policy?.max_run_lamports === undefined ? [] : [`${formatSol(policy.max_run_lamports)} a run`]),
    ...(policy?.max_day_lamports === undefined ? [] : [`${formatSol(policy.max_day_lamports)} a day`]),
  ];
  const ask = policy?.ask_above_lamports;
  return limits.join('; at most ') + (ask === undefined ? '' : `; asks you above ${formatSol(ask)}`);
}

function disclosure(name: string, text: string): HTMLDetailsElement {
  const details = document.createElement('details');
  const summary = document.createElement('summary');
  summary.textContent = name;
  const code = document.createElement('pre');
  code.tabIndex = 0;
  code.setAttribute('role', 'group');
  code.setAttribute('aria-label', `Configuration of ${name}`);
  code.textContent = text;
  details.append(summary, code);
  return details;
}
