import type { Command } from 'commander';
import type { CliEnvironment } from '../../cli-environment.js';
import { withMarketplace } from '../../options.js';
import { eventsCommand } from './events.js';
import { lowBalanceCommand } from './low-balance.js';
import {
  addWebhookCommand,
  changeWebhookCommand,
  deliveriesCommand,
  listWebhooksCommand,
  redeliverCommand,
  rotateWebhookCommand,
  testWebhookCommand,
} from './webhooks.js';

/** Adds the commands by which a wallet hears of events. */
export function addEventCommands(program: Command, environment: CliEnvironment): void {
  withMarketplace(program.command('events'))
    .description('show what happened to the wallet')
    .option('--follow', 'show new events, until Ctrl-C')
    .option('--types <names>', 'only these, with commas between them')
    .option('--after <cursor>', 'go on after this place, which --json shows')
    .option('--limit <number>', 'number of events, without --follow', '20')
    .action((options: object) => eventsCommand(options, environment));
  withMarketplace(program.command('low-balance'))
    .description('show or set below how many runs a balance is low, which an event tells')
    .argument('[runs]', 'from 1 to 1000')
    .action((runs: string | undefined, options: object) => lowBalanceCommand(runs, options, environment));
  const webhooks = program.command('webhooks').description('addresses that hear of events');
  const add = (name: string, description: string) =>
    withMarketplace(webhooks.command(name)).description(description);
  const addForOne = (name: string, description: string) => add(name, description).argument('<id>', 'its id');
  add('list', 'list the webhooks of the wallet').action((options: object) =>
    listWebhooksCommand(options, environment),
  );
  add('add', 'have events sent to an address; shows the signing secret once')
    .argument('[url]', 'an https address')
    .option('--events <names>', 'only these, with commas between them')
    .option('--callbacks', 'instead of an address: sign the callbacks of runs')
    .action((url: string | undefined, options: object) => addWebhookCommand(url, options, environment));
  addForOne('test', 'send a signed event now').action((id: string, options: object) =>
    testWebhookCommand(id, options, environment),
  );
  addForOne('rotate', 'replace the signing secret').action((id: string, options: object) =>
    rotateWebhookCommand(id, options, environment),
  );
  const changes = {
    pause: 'send no events until it is resumed',
    resume: 'send events again',
    remove: 'remove it and its deliveries',
  };
  for (const [change, description] of Object.entries(changes) as [keyof typeof changes, string][]) {
    addForOne(change, description).action((id: string, options: object) =>
      changeWebhookCommand(change, id, options, environment),
    );
  }
  addForOne('deliveries', 'show the requests, and their answers')
    .option('--limit <number>', 'number of the latest deliveries', '20')
    .action((id: string, options: object) => deliveriesCommand(id, options, environment));
  addForOne('redeliver', 'send an event again, now')
    .argument('<event-id>', 'the id of the event')
    .action((id: string, eventId: string, options: object) =>
      redeliverCommand(id, eventId, options, environment),
    );
}
