import type { Schema } from './openapi-schemas.js';
import { OAUTH_PATHS } from './service-endpoints.js';

/** The groups of the operations, with the first parts of their paths below `/v1`. */
const GROUPS: Readonly<Record<string, { description: string; parts?: readonly string[] }>> = {
  Login: {
    description: 'Wallets log in, and make API keys.',
    parts: ['auth', 'api-keys', 'approvals', 'apps'],
  },
  Listings: { description: 'Agents for rent, and their reviews.', parts: ['listings', 'creators'] },
  Rentals: {
    description: 'Credentials, and the transactions that buy them.',
    parts: ['credentials', 'transactions'],
  },
  Runs: {
    description: 'Tasks, their files, results and receipts.',
    parts: ['execute', 'runs', 'spending', 'tools', 'files'],
  },
  Events: { description: 'What happened to a wallet.', parts: ['events', 'webhooks', 'email'] },
  Agents: { description: "A creator's own agents and earnings.", parts: ['agents', 'jobs', 'earnings'] },
  Operator: {
    description: "For the wallets of the service's operator. Any other caller gets 404.",
    parts: ['operator'],
  },
  OAuth: { description: 'For clients of OAuth 2.1. Answers and errors have its form.' },
  Pages: {
    description: 'For people, in a browser. An error is a page, too, for a client that accepts HTML.',
  },
  Service: { description: 'About the service itself. Callers need no login.', parts: ['network'] },
};

/** The groups as tags of the document. */
export const TAGS = Object.entries(GROUPS).map(([name, { description }]) => ({ name, description }));

/** Gives each operation the tag of its group, and the group's description where it has none. */
export function addTags(paths: Readonly<Record<string, Schema>>): void {
  for (const [path, item] of Object.entries(paths)) {
    for (const operation of Object.values(item)) {
      if (!isOperation(operation)) continue;
      const tag = tagOf(path, operation.operationId);
      operation['tags'] = [tag];
      operation['description'] ??= GROUPS[tag]?.description;
    }
  }
}

function isOperation(value: unknown): value is Schema & { operationId: string } {
  return typeof value === 'object' && value !== null && 'operationId' in value;
}

function tagOf(path: string, operationId: string): string {
  if (Object.values<string>(OAUTH_PATHS).includes(path)) return 'OAuth';
  if (/Page(Script)?$/.test(operationId)) return 'Pages';
  const [, version, part = ''] = path.split('/');
  const found = Object.entries(GROUPS).find(([, { parts }]) => version === 'v1' && parts?.includes(part));
  return found?.[0] ?? 'Service';
}
