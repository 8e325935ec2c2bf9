import { formatSol, inSol } from '@agent-rental/sdk';

/** Requests that answers of the API name as the next step, as commands. */
const COMMANDS: readonly (readonly [request: RegExp, command: string])[] = [
  [/PUT \/v1\/listings\/:id\/model-key/g, '"agent-rental update --model-key"'],
  [/POST \/v1\/listings\/:id\/webhook-secret/g, '"agent-rental rotate-secret"'],
  [/PATCH \/v1\/agents\/:listing_id/g, '"agent-rental update"'],
  [/POST \/v1\/agents(?![/\w])/g, '"agent-rental publish"'],
  [/POST \/v1\/transactions, action update/g, '"agent-rental update"'],
  [/(?:rent the agent|Rent it) with POST \/v1\/transactions/g, '"agent-rental rent" rents it'],
  [/publish with "unverified": true/g, '"agent-rental publish --unverified" publishes it'],
  [/with the action renew/g, 'with "agent-rental rent --days"'],
  [/with the action topup/g, 'with "agent-rental rent --deposit"'],
];

/** A text of the API in the words of the command line: commands for requests, and amounts in SOL. */
export function inWordsOfCli(text: string): string {
  return inSol(asCommands(text));
}

/** A fault of `agent.json`, whose amounts are in lamports: with their SOL beside them. */
export function writtenFault({ path, message }: { path: string; message: string }): string {
  const amounts = /(\d+) lamports/g;
  const text = asCommands(message).replaceAll(
    amounts,
    (whole, n: string) => `${whole} (${formatSol(BigInt(n))})`,
  );
  return `${path} ${text}`.trim();
}

const asCommands = (text: string) =>
  COMMANDS.reduce((said, [request, command]) => said.replaceAll(request, command), text);
